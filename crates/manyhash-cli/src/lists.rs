//! Lists of checksums: the formats that are read, and those that are written.

pub(crate) mod cksum;
pub(crate) mod json;
pub(crate) mod line;
pub(crate) mod read;
