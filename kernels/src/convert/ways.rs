//! What becomes of a nest of whole bytes in the cache: where its places lie has no say in that, so that it may be chosen once.

use super::converter::Work;
use super::rows::{Form, Place};
use super::small::Passes;
use super::tile::Pass;
use super::weave::{Woven, woven};
use crate::nest::Loop;
use crate::tuning::CONVERT_ROW;

/// How the elements of a nest go.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time, and it is no heap's")]
pub(super) enum Way {
    /// By rows of a form.
    Woven(Woven),
    /// By rows that are long, or the only one.
    Rows(Pass),
    /// All at once.
    OneTile(Passes),
    /// Part by part, or tile by tile.
    Tiles,
    /// As one row, by way of a room: for few elements.
    Few,
}

impl Work<'_> {
    /// The way of a nest, none of whose loops runs once.
    pub(super) fn way(&self, loops: &[Loop], places: [Place; 2]) -> Way {
        if let Some(woven) = woven(self.converter, loops, places) {
            return Way::Woven(woven);
        }
        let pass = Pass::new(loops, self.units());
        if pass.rows.as_slice().is_empty() || pass.run * self.conversion.dst_bytes() >= CONVERT_ROW {
            return Way::Rows(pass);
        }
        self.as_one_tile(loops).map_or(Way::Tiles, Way::OneTile)
    }

    /// Goes the way of a nest.
    ///
    /// # Safety
    /// Every slot that the loops reach from the two places must be valid there, without overlap; the way must be theirs.
    pub(super) unsafe fn go(&self, way: &Way, loops: &[Loop], src: Place, dst: Place) {
        let (conversion, places) = (&self.conversion, [src, dst]);
        // SAFETY: the caller's promise; where the way has a form, the level has it too.
        unsafe {
            match way {
                Way::Woven(Woven { pass, form, .. }) => self.convert(conversion, pass, *form, places, None),
                Way::Rows(pass) => self.convert(conversion, pass, Form::Plain, places, None),
                Way::OneTile(passes) => self.by_passes(passes, src, dst),
                Way::Tiles if self.in_parts(loops, src, dst) => {}
                Way::Tiles => self.tiles(loops, src, dst),
                Way::Few => {
                    let is_done = self.few(loops, src, dst);
                    debug_assert!(is_done, "there are few, and slots have whole bytes");
                }
            }
        }
    }
}
