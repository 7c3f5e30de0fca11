//! The literals that patterns start with, in one sorted table.
//!
//! One binary search finds the longest head of a path, and links lead from
//! there to the shorter ones. The best rank of the plain prefixes on that way
//! is known beforehand, so plain prefixes cost nothing but the search.

use std::ops::Range;

/// The place of a pattern in deciding order; the lowest that matches decides.
pub type Rank = u32;

/// The rank of nothing: worse than any.
pub const NEVER: Rank = Rank::MAX;

const NONE: u32 = u32::MAX;

/// Links followed to shorter heads before another search is cheaper. Real
/// files need one or two.
const STEPS_UP_MAX: u32 = 16;

/// One pattern, as the table takes it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The first bytes of the head, as a number.
    key: u64,
    /// The literal it starts with.
    pub head: &'a [u8],
    /// Its place in deciding order.
    pub rank: Rank,
    /// What follows the head.
    pub rest: Rest,
}

impl<'a> Entry<'a> {
    /// The entry of a pattern.
    pub fn new(head: &'a [u8], rank: Rank, rest: Rest) -> Entry<'a> {
        Entry { key: key(head), head, rank, rest }
    }
}

/// What follows the head of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rest {
    /// Nothing: a plain prefix.
    Open,
    /// The end of the path.
    End,
    /// A wildcard and more.
    Tail,
}

/// All heads, sorted by their bytes.
#[derive(Debug)]
pub struct Heads {
    /// First eight bytes of each, so that most comparisons are one of integers.
    keys: Box<[u64]>,
    heads: Box<[Head]>,
    bytes: Box<[u8]>,
}

/// One head and what hangs on it.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    start: u32,
    end: u32,
    parent: u32,
    /// Best rank of a plain prefix, here or at a shorter head.
    open: Rank,
    /// Best rank of a pattern that is this head and the end of the path.
    exact: Rank,
    /// Tails that follow this head: a range of all tails in the order of the table.
    tails: (u32, u32),
    /// The nearest head that has tails: this one, or a shorter one.
    tailed: u32,
    /// Best rank of a tail, here or at a shorter head.
    best_tail: Rank,
    /// How many tails hang here and at shorter heads.
    tails_count: u32,
}

impl Heads {
    /// Sorts `entries` and makes the table of them. Their tails are then numbered in that order.
    pub fn new(entries: &mut [Entry<'_>]) -> Heads {
        entries.sort_unstable_by(|a, b| {
            let by_key = a.key.cmp(&b.key);
            by_key.then_with(|| a.head.cmp(b.head)).then_with(|| a.rank.cmp(&b.rank))
        });
        let mut heads: Vec<Head> = Vec::with_capacity(entries.len());
        let mut keys = Vec::with_capacity(entries.len());
        let mut bytes = Vec::with_capacity(entries.iter().map(|entry| entry.head.len()).sum());
        let mut tails_start = 0;
        for group in entries.chunk_by(|a, b| a.head == b.head) {
            let text = group[0].head;
            let parent = parent(&heads, &bytes, text);
            let mut head = Head::new(group, tails_start);
            head.inherit(parent, heads.get(parent as usize), to_u32(heads.len()));
            tails_start = head.tails.1;
            head.start = to_u32(bytes.len());
            bytes.extend_from_slice(text);
            head.end = to_u32(bytes.len());
            keys.push(group[0].key);
            heads.push(head);
        }
        Heads { keys: keys.into(), heads: heads.into(), bytes: bytes.into() }
    }

    /// The longest head that `path` starts with.
    #[inline]
    pub fn longest(&self, path: &[u8]) -> Option<&Head> {
        let mut head = self.last_up_to(path)?;
        let mut common = common_bytes(self.text(head), path);
        let mut steps = 0;
        while head.length() > common {
            steps += 1;
            if steps == STEPS_UP_MAX {
                // Heads in heads, hundreds deep: look for the common part instead. Only once,
                // as the next head may part from the path a byte earlier, and so on.
                let path = &path[..common];
                head = self.last_up_to(path)?;
                common = common_bytes(self.text(head), path);
            } else {
                head = self.heads.get(head.parent as usize)?;
            }
        }
        Some(head)
    }

    /// The last head that sorts before `path`, or is it.
    #[inline]
    fn last_up_to(&self, path: &[u8]) -> Option<&Head> {
        let key = key(path);
        let mut after = self.keys.partition_point(|other| *other <= key);
        if self.keys[..after].last() == Some(&key) {
            let first = self.keys[..after].partition_point(|other| *other < key);
            let ties = &self.heads[first..after];
            after = first + ties.partition_point(|head| self.text(head) <= path);
        }
        self.heads[..after].last()
    }

    /// Heads that have tails, from `head` to shorter ones.
    #[inline]
    pub fn tailed(&self, head: &Head) -> impl Iterator<Item = &Head> {
        let find = |index: u32| self.heads.get(index as usize);
        std::iter::successors(find(head.tailed), move |head| find(find(head.parent)?.tailed))
    }

    fn text(&self, head: &Head) -> &[u8] {
        &self.bytes[head.start as usize..head.end as usize]
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.keys) + size_of_val(&*self.heads) + self.bytes.len()
    }
}

impl Head {
    /// Of `group`, sorted by rank, without what it inherits.
    fn new(group: &[Entry<'_>], tails_start: u32) -> Head {
        let best = |rest: Rest| {
            group.iter().find(|entry| entry.rest == rest).map_or(NEVER, |entry| entry.rank)
        };
        let tails_count = to_u32(group.iter().filter(|entry| entry.rest == Rest::Tail).count());
        Head {
            start: 0,
            end: 0,
            parent: NONE,
            open: best(Rest::Open),
            exact: best(Rest::End),
            tails: (tails_start, tails_start + tails_count),
            tailed: NONE,
            best_tail: best(Rest::Tail),
            tails_count,
        }
    }

    fn inherit(&mut self, index: u32, parent: Option<&Head>, own_index: u32) {
        if self.tails_count > 0 {
            self.tailed = own_index;
        }
        if let Some(parent) = parent {
            self.parent = index;
            self.open = self.open.min(parent.open);
            self.best_tail = self.best_tail.min(parent.best_tail);
            if self.tails_count == 0 {
                self.tailed = parent.tailed;
            }
            self.tails_count += parent.tails_count;
        }
    }

    /// Bytes of the head.
    #[inline]
    pub fn length(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Best rank of the patterns without wildcards that match `path`, of which this is the longest head.
    #[inline]
    pub fn literal_rank(&self, path: &[u8]) -> Rank {
        if path.len() == self.length() { self.open.min(self.exact) } else { self.open }
    }

    /// Best rank that any tail, here or at a shorter head, could give.
    #[inline]
    pub fn best_tail(&self) -> Rank {
        self.best_tail
    }

    /// How many tails hang here and at shorter heads.
    #[inline]
    pub fn tails_count(&self) -> u32 {
        self.tails_count
    }

    /// The tails that hang here, in deciding order.
    #[inline]
    pub fn tails(&self) -> Range<usize> {
        self.tails.0 as usize..self.tails.1 as usize
    }
}

/// The last head that `text`, which sorts after all of them, starts with.
fn parent(heads: &[Head], bytes: &[u8], text: &[u8]) -> u32 {
    let mut at = to_u32(heads.len()).wrapping_sub(1);
    while let Some(head) = heads.get(at as usize) {
        if text.starts_with(&bytes[head.start as usize..head.end as usize]) {
            return at;
        }
        at = head.parent;
    }
    NONE
}

/// The first eight bytes as a number that sorts as they do; zeros where there are fewer.
#[inline]
pub fn key(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            chunk[..text.len()].copy_from_slice(text);
            u64::from_be_bytes(chunk)
        }
    }
}

/// How many bytes two texts have in common at their start.
#[inline]
fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    let (a_chunks, _) = a.as_chunks::<8>();
    let (b_chunks, _) = b.as_chunks::<8>();
    let equal = a_chunks.iter().zip(b_chunks).take_while(|(a, b)| a == b).count() * 8;
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("a robots.txt of 500 KiB")
}
