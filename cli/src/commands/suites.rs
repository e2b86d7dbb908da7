//! The suites of cases that are measured by name.

use anyhow::{Result, bail};
use relayout::Problem;

/// Lines of `suite | name | problem`, shared with the benchmarks of the library.
const CASES: &str = include_str!("../../../benches/cases.txt");

/// A case with its names.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) suite: String,
    pub(crate) case: String,
    pub(crate) problem: Problem,
}

/// The cases of one suite, or of `all`.
pub(crate) fn cases(suite: &str) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let [of, case, problem] = line.split(" | ").collect::<Vec<_>>()[..] else {
            bail!("--suite: the table has a line of another form: {line}");
        };
        if names.last() != Some(&of) {
            names.push(of);
        }
        if of == suite || suite == "all" {
            found.push(Named { suite: of.to_owned(), case: case.to_owned(), problem: problem.parse()? });
        }
    }
    if found.is_empty() {
        bail!("--suite: unknown suite '{suite}', expected {} or all", names.join(", "));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_case_of_its_own() {
        let all = cases("all").unwrap();
        for (i, case) in all.iter().enumerate() {
            let same = |other: &&Named| other.suite == case.suite && other.case == case.case;
            assert!(all[..i].iter().find(same).is_none(), "{case:?}");
            assert!(case.problem.src.validate().is_ok() && case.problem.dst.validate().is_ok(), "{case:?}");
        }
    }

    #[test]
    fn the_published_permutations_are_all_there() {
        assert_eq!(cases("ttc57").unwrap().len(), 57);
    }

    #[test]
    fn unknown_suites_are_refused() {
        assert!(cases("tiles").unwrap_err().to_string().contains("expected tile, transpose2d"));
    }
}
