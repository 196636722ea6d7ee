//! Bytes that arrive in pieces, taken by lines and by slices.

use crate::error::S3Error;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;

/// The most bytes of a line: a chunk's has 99 at most, a trailer's some 120.
const MAX_LINE_BYTES: usize = 1024;

/// What arrived and is not taken yet.
#[derive(Debug, Default)]
pub(super) struct Input {
    pieces: VecDeque<Bytes>,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Of CR LF, whether CR was taken.
    has_cr: bool,
}

/// A line without its end.
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    /// Whether it ended in CR LF, not in LF alone.
    pub(super) has_cr: bool,
}

impl Input {
    pub(super) fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.pieces.push_back(piece);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes CR LF, if it is there. Returns whether it was that.
    pub(super) fn cr_lf(&mut self) -> Option<bool> {
        while let Some(front) = self.pieces.front_mut() {
            let byte = front.try_get_u8().ok();
            self.drop_empty();
            match (byte, self.has_cr) {
                (Some(b'\r'), false) => self.has_cr = true,
                (byte, has_cr) => {
                    self.has_cr = false;
                    return Some(has_cr && byte == Some(b'\n'));
                }
            }
        }
        None
    }

    /// Takes at most so many bytes, as they arrived.
    pub(super) fn slice(&mut self, most: u64) -> Option<Bytes> {
        let front = self.pieces.front_mut()?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let slice = front.split_to(front.len().min(most));
        self.drop_empty();
        Some(slice)
    }

    /// Takes a line, if its end is there.
    ///
    /// # Errors
    /// Returns an error if the line is too long, or has a CR before its end.
    pub(super) fn line(&mut self) -> Result<Option<Line>, S3Error> {
        while let Some(front) = self.pieces.front_mut() {
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            let end = front.iter().take(room).position(|byte| *byte == b'\n');
            let length = end.map_or(front.len().min(room), |end| end + 1);
            self.line.extend_from_slice(&front.split_to(length));
            self.drop_empty();
            if end.is_none() {
                if self.line.len() >= MAX_LINE_BYTES {
                    return Err(S3Error::body_ended_early());
                }
                continue;
            }
            let mut text = std::mem::take(&mut self.line);
            text.pop();
            let has_cr = text.last() == Some(&b'\r');
            text.truncate(text.len() - usize::from(has_cr));
            if text.contains(&b'\r') {
                return Err(S3Error::body_ended_early());
            }
            return Ok(Some(Line { text, has_cr }));
        }
        Ok(None)
    }

    fn drop_empty(&mut self) {
        if self.pieces.front().is_some_and(Bytes::is_empty) {
            self.pieces.pop_front();
        }
    }
}
