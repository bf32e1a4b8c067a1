//! Live objects: the examples of the paper, the searches against each other, and objects that must never fail.

mod counts;
mod objects;
mod paper;
