//! Proofs of verdicts as JSON lines, compressed where that is built in.

use std::io::Write;

use crate::files::Output;
use crate::results::Checked;

#[cfg(feature = "archives")]
type Compressed = flate2::write::GzEncoder<Output>;
#[cfg(not(feature = "archives"))]
type Compressed = Output;

/// A file of proofs, one for each history.
pub(crate) struct ProofFile {
    out: Compressed,
}

impl ProofFile {
    pub(crate) fn new(out: Output) -> Self {
        #[cfg(feature = "archives")]
        let out = Compressed::new(out, flate2::Compression::default());
        ProofFile { out }
    }

    pub(crate) fn add(&mut self, checked: &Checked) -> std::io::Result<()> {
        match &checked.proof {
            Some(proof) => proof.write(&mut self.out),
            None => Ok(()),
        }
    }

    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        #[cfg(feature = "archives")]
        return self.out.finish()?.finish();
        #[cfg(not(feature = "archives"))]
        self.out.finish()
    }
}
