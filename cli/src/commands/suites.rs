//! The suites of cases that are measured by name.

use anyhow::{Result, bail};
use relayout::{Conversion, Problem};

/// Lines of `suite | name | problem`, some with `| factor` or `| factors along` a dimension behind, shared with the benchmarks
/// of the library.
const CASES: &str = include_str!("../../../benches/cases.txt");

/// A case with its names.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) suite: String,
    pub(crate) case: String,
    pub(crate) problem: Problem,
    pub(crate) conversion: Conversion,
}

/// The cases of one suite, or of `all`.
pub(crate) fn cases(suite: &str) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let [of, case, line] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else {
            bail!("--suite: the table has a line of another form: {line}");
        };
        if names.last() != Some(&of) {
            names.push(of);
        }
        if of == suite || suite == "all" {
            let (problem, factors) = without_factors(line);
            let problem = problem.parse()?;
            let conversion = conversion(&problem, factors)?;
            found.push(Named { suite: of.to_owned(), case: case.to_owned(), problem, conversion });
        }
    }
    if found.is_empty() {
        bail!("--suite: unknown suite '{suite}', expected {} or all", names.join(", "));
    }
    Ok(found)
}

/// A line without what stands behind a bar: the factors.
pub(crate) fn without_factors(line: &str) -> (&str, Option<&str>) {
    line.split_once(" | ").map_or((line, None), |(line, factors)| (line, Some(factors)))
}

/// What elements are multiplied by: `factor`, or `factors along` a dimension.
pub(crate) fn conversion(problem: &Problem, factors: Option<&str>) -> Result<Conversion> {
    let Some(factors) = factors else { return Ok(Conversion::new()) };
    if factors == "factor" {
        return Ok(Conversion::new().with_scale(0.37));
    }
    let dimension = factors.strip_prefix("factors along ").and_then(|number| number.parse::<usize>().ok());
    let sizes = problem.src.as_array().map(|array| array.dimensions()).unwrap_or_default();
    let size = dimension.and_then(|dimension| sizes.get(dimension)?.bound());
    let (Some(dimension), Some(size)) = (dimension, size) else {
        bail!("expected 'factor' or 'factors along' a dimension behind the bar, found '{factors}'");
    };
    Ok(Conversion::new().with_scale_along(dimension, (0..size).map(|i| 0.5 + i as f32 / size as f32)))
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
