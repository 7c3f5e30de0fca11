//! Log formats: one line to one record, or the reason why it is none.
