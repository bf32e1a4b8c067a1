//! Readers and writers of recorded histories.
