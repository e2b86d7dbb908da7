//! Dimension numbers: negative ones, letters, and the way between logical and physical.
//!
//! A **logical** dimension is numbered as the shape writes it. A **physical** dimension is numbered by its place in
//! memory: 0 is the most major (slowest), the last the most minor (fastest).

use crate::{ArrayShape, DimensionSize, Layout, LayoutError};

impl ArrayShape {
    /// A logical dimension number; negative ones count from the end as in Python, -1 being the last.
    ///
    /// ```
    /// use relayout::{ArrayShape, PrimitiveType};
    /// let shape = ArrayShape::new(PrimitiveType::F32, [2, 3, 5]);
    /// assert_eq!(shape.dimension_number(-1)?, 2);
    /// assert!(shape.dimension_number(3).is_err());
    /// # Ok::<(), relayout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// [`LayoutError::NoSuchDimension`] outside `-rank..rank`.
    pub fn dimension_number(&self, dimension: i64) -> Result<usize, LayoutError> {
        let rank = self.rank();
        let from_front = if dimension < 0 { dimension.checked_add(rank as i64) } else { Some(dimension) };
        from_front
            .and_then(|number| usize::try_from(number).ok())
            .filter(|&number| number < rank)
            .ok_or(LayoutError::NoSuchDimension { dimension, rank })
    }

    /// The size of a logical dimension; negative numbers count from the end.
    ///
    /// # Errors
    /// [`LayoutError::NoSuchDimension`].
    pub fn dimension(&self, dimension: i64) -> Result<DimensionSize, LayoutError> {
        Ok(self.dimensions()[self.dimension_number(dimension)?])
    }

    /// For every logical dimension its physical number, 0 being the most major (XLA's `MakeLogicalToPhysical`).
    ///
    /// ```
    /// use relayout::{ArrayShape, Layout, PrimitiveType};
    /// let layout = Layout::from_minor_to_major([1, 2, 0]);
    /// let shape = ArrayShape::new(PrimitiveType::F32, [2, 3, 5]).with_layout(layout);
    /// assert_eq!(shape.make_logical_to_physical()?, [0, 2, 1]);
    /// # Ok::<(), relayout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// What [`ArrayShape::validate`] finds.
    pub fn make_logical_to_physical(&self) -> Result<Vec<usize>, LayoutError> {
        self.validate()?;
        let mut map = vec![0; self.rank()];
        for (physical, &logical) in self.layout().minor_to_major().iter().rev().enumerate() {
            map[logical as usize] = physical;
        }
        Ok(map)
    }

    /// The physical number of a logical dimension (negative as in Python); 0 is the most major.
    ///
    /// # Errors
    /// [`LayoutError::NoSuchDimension`], and what [`ArrayShape::validate`] finds.
    pub fn physical_dimension_number(&self, dimension: i64) -> Result<usize, LayoutError> {
        Ok(self.make_logical_to_physical()?[self.dimension_number(dimension)?])
    }

    /// The logical number of physical dimension `physical` (negative as in Python); 0 is the most major.
    ///
    /// ```
    /// use relayout::{ArrayShape, Layout, PrimitiveType};
    /// let layout = Layout::from_minor_to_major([1, 2, 0]);
    /// let shape = ArrayShape::new(PrimitiveType::F32, [2, 3, 5]).with_layout(layout);
    /// assert_eq!(shape.logical_dimension_number(0)?, 0); // the most major
    /// assert_eq!(shape.logical_dimension_number(-1)?, 1); // the most minor
    /// # Ok::<(), relayout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// As [`ArrayShape::physical_dimension_number`].
    pub fn logical_dimension_number(&self, physical: i64) -> Result<usize, LayoutError> {
        self.validate()?;
        let physical = self.dimension_number(physical)?;
        Ok(self.layout().minor_to_major()[self.rank() - 1 - physical] as usize)
    }
}

impl Layout {
    /// True where the dimensions lie in their own order, dimension 0 the most major (row major).
    pub fn is_monotonic_with_dim0_major(&self) -> bool {
        self.minor_to_major().is_sorted_by(|minor, major| minor >= major)
    }

    /// True where dimension 0 is the most minor and the others follow in order (column major).
    pub fn is_monotonic_with_dim0_minor(&self) -> bool {
        self.minor_to_major().is_sorted()
    }
}

/// The name of logical dimension `dimension` of `rank` in pictures: XLA's letters `x`, `y x`, `z y x` and `p z y x` in
/// one to four dimensions, `d0`, `d1`, … in more.
///
/// ```
/// use relayout::axis_name;
/// let names: Vec<String> = (0..3).map(|dimension| axis_name(3, dimension)).collect();
/// assert_eq!(names, ["z", "y", "x"]);
/// assert_eq!(axis_name(5, 4), "d4");
/// ```
pub fn axis_name(rank: usize, dimension: usize) -> String {
    const LETTERS: [char; 4] = ['x', 'y', 'z', 'p'];
    let from_minor = rank.checked_sub(1 + dimension);
    match from_minor.and_then(|position| LETTERS.get(position)) {
        Some(letter) if rank <= LETTERS.len() => letter.to_string(),
        _ => format!("d{dimension}"),
    }
}
