//! Linear indices under everything that a layout says.

use smallvec::smallvec;

use super::sizes::round_up;
use super::tiling::TileStep;
use super::{
    Index, check_index, checked_product, major_to_minor, row_major, row_major_index, sizes_in_physical_order,
    valid_bounds,
};
use crate::{ArrayShape, LayoutError};

/// The index function of one array, checked once and then asked many times.
///
/// It follows the definition of a layout to the letter: the entries of the multi-index in physical order, then every
/// tile in turn, then row major over the dimensions that result. That makes it the measure of faster code, and no
/// faster than a dozen small loops per element.
///
/// ```
/// use relayout::{ArrayShape, Layout, PrimitiveType, Tile, index::Indexer};
/// let tiles = [Tile::from([8, 128]), Tile::from([2, 1])];
/// let layout = Layout::row_major(2).with_tiles(tiles);
/// let indexer = Indexer::new(&ArrayShape::new(PrimitiveType::Bf16, [16, 256]).with_layout(layout))?;
/// assert_eq!(indexer.physical_dimensions(), [2, 2, 4, 128, 2, 1]);
/// assert_eq!(indexer.linear(&[1, 0])?, 1); // rows 0 and 1 share 32-bit lanes
/// assert_eq!(indexer.multi(1), Some(vec![1, 0]));
/// # Ok::<(), relayout::LayoutError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Indexer {
    bounds: Vec<i64>,
    major_to_minor: Vec<usize>,
    steps: Vec<TileStep>,
    physical_dimensions: Vec<i64>,
    filled: i64,
    slots: i64,
}

impl Indexer {
    /// Prepares the index function of `shape`.
    ///
    /// # Errors
    /// Whatever [`ArrayShape::validate`] finds, [`LayoutError::UnboundedDimension`],
    /// [`LayoutError::TrailingCombine`], and [`LayoutError::Overflow`] where the slots cannot be counted.
    pub fn new(shape: &ArrayShape) -> Result<Indexer, LayoutError> {
        let bounds = valid_bounds(shape)?;
        let mut sizes = sizes_in_physical_order(shape, &bounds);
        let mut steps = Vec::new();
        for (number, tile) in shape.layout().tiles().iter().enumerate() {
            let step = TileStep::new(&sizes, tile, number)?;
            sizes = step.sizes(sizes);
            steps.push(step);
        }
        let filled = checked_product("the padded size", &sizes)?;
        let slots = round_up(filled, shape.layout().tail_padding_alignment_in_elements())?;
        let major_to_minor = major_to_minor(shape).collect();
        Ok(Indexer { bounds, major_to_minor, steps, physical_dimensions: sizes, filled, slots })
    }

    /// The dimensions after all tiles, most major first; legacy padding is counted, the tail alignment (`L`) is not.
    pub fn physical_dimensions(&self) -> &[i64] {
        &self.physical_dimensions
    }

    /// Slots of the array's memory, elements and padding, the tail alignment (`L`) included.
    pub fn slots(&self) -> i64 {
        self.slots
    }

    /// Slots without those of the tail alignment: the product of [`Indexer::physical_dimensions`].
    pub(crate) fn filled(&self) -> i64 {
        self.filled
    }

    /// Where an element lies along each of [`Indexer::physical_dimensions`].
    ///
    /// # Errors
    /// [`LayoutError::IndexLength`] and [`LayoutError::IndexOutOfBounds`]; negative entries are out of bounds.
    pub fn physical_index(&self, index: &[i64]) -> Result<Vec<i64>, LayoutError> {
        Ok(self.physical(index)?.into_vec())
    }

    /// The same on the stack.
    fn physical(&self, index: &[i64]) -> Result<Index, LayoutError> {
        check_index(&self.bounds, index)?;
        let physical = self.major_to_minor.iter().map(|&dimension| index[dimension]).collect();
        Ok(self.steps.iter().fold(physical, |physical, step| step.apply(physical)))
    }

    /// The slot of an element.
    ///
    /// # Errors
    /// As [`Indexer::physical_index`].
    pub fn linear(&self, index: &[i64]) -> Result<i64, LayoutError> {
        Ok(row_major(&self.physical_dimensions, &self.physical(index)?))
    }

    /// The element in a slot; `None` for padding, and for numbers outside `0..slots`.
    pub fn multi(&self, linear: i64) -> Option<Vec<i64>> {
        Some(self.element_in(linear)?.into_vec())
    }

    /// True for slots of elements.
    pub(crate) fn has_element(&self, linear: i64) -> bool {
        self.element_in(linear).is_some()
    }

    /// [`Indexer::multi`] on the stack.
    fn element_in(&self, linear: i64) -> Option<Index> {
        if !(0..self.filled).contains(&linear) {
            return None;
        }
        let physical = row_major_index(&self.physical_dimensions, linear);
        let physical = self.steps.iter().rev().try_fold(physical, |physical, step| step.undo(physical))?;
        let mut index: Index = smallvec![0; self.bounds.len()];
        for (&dimension, entry) in self.major_to_minor.iter().zip(physical) {
            index[dimension] = entry;
        }
        // What legacy padding added is known by the bounds alone.
        check_index(&self.bounds, &index).is_ok().then_some(index)
    }
}

/// The linear index of an element, in slots, under every tile; see [`Indexer`] for more than a few.
///
/// ```
/// use relayout::{ArrayShape, index};
/// let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert_eq!(index::linear_index(&shape, &[2, 3])?, 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Indexer::new`] and [`Indexer::linear`].
pub fn linear_index(shape: &ArrayShape, index: &[i64]) -> Result<i64, LayoutError> {
    Indexer::new(shape)?.linear(index)
}

/// The multi-index of the element in a slot, `None` for a padding slot; the inverse of [`linear_index`].
///
/// ```
/// use relayout::{ArrayShape, index};
/// let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert_eq!((index::multi_index(&shape, 17)?, index::multi_index(&shape, 18)?), (Some(vec![2, 3]), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Indexer::new`], and [`LayoutError::LinearIndexOutOfBounds`] for numbers outside the array's memory.
pub fn multi_index(shape: &ArrayShape, linear: i64) -> Result<Option<Vec<i64>>, LayoutError> {
    let indexer = Indexer::new(shape)?;
    let slots = indexer.slots();
    if (0..slots).contains(&linear) {
        Ok(indexer.multi(linear))
    } else {
        Err(LayoutError::LinearIndexOutOfBounds { linear, slots })
    }
}
