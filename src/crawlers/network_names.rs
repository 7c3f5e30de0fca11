//! Names of networks, from a CSV file of the user with the columns `prefix,network`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::{net::IpAddr, path::Path, sync::Arc};

use ipnet::{IpNet, Ipv4Net};

use crate::error::{Error, Result};

use super::{registry::read_file, table::wrong_csv};

/// The most different names, because a tally keeps sums for each.
const NAMES_MAX: usize = if cfg!(test) { 5 } else { 10_000 };

/// The longest name in bytes.
const NAME_BYTES_MAX: usize = 200;

/// The names of networks, ready for lookups.
#[derive(Debug, Default)]
pub struct NetworkNames {
    /// Each with its line.
    names: HashMap<IpNet, (u64, Arc<str>)>,
    /// The lengths of their prefixes.
    lengths: BTreeSet<u8>,
}

impl NetworkNames {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read. The first invalid row, with its line.
    pub(crate) fn read(path: &Path) -> Result<NetworkNames> {
        NetworkNames::parse(path, &read_file(path)?)
    }

    fn parse(path: &Path, text: &[u8]) -> Result<NetworkNames> {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text);
        let header = reader.headers().map_err(|error| wrong_csv(path, &error))?;
        if header != ["prefix", "network"].as_slice() {
            return Err(Error::invalid(path, 1, "the first line must be prefix,network"));
        }
        let (mut networks, mut known) = (NetworkNames::default(), HashSet::new());
        for record in reader.records() {
            let record = record.map_err(|error| wrong_csv(path, &error))?;
            let line = record.position().map_or(0, |position| line_of(text, position));
            let added = networks.add(line, &record, &mut known);
            added.map_err(|why| Error::invalid(path, line, why))?;
        }
        Ok(networks)
    }

    fn add(
        &mut self,
        line: u64,
        record: &csv::StringRecord,
        known: &mut HashSet<Arc<str>>,
    ) -> std::result::Result<(), String> {
        let (Some(prefix), Some(name), 2) = (record.get(0), record.get(1), record.len()) else {
            return Err(format!("expected 2 cells, found {}", record.len()));
        };
        let Some(network) = network(prefix).map(canonical) else {
            return Err(format!("'{prefix}' is not a network such as 192.0.2.0/24"));
        };
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return Err(format!("the name of a network must have 1 to {NAME_BYTES_MAX} bytes"));
        }
        let name = known.get(name).cloned().unwrap_or_else(|| name.into());
        known.insert(Arc::clone(&name));
        if known.len() > NAMES_MAX {
            return Err(format!("more than {NAMES_MAX} different names; combine some networks"));
        }
        self.lengths.insert(network.prefix_len());
        match self.names.insert(network, (line, name)) {
            None => Ok(()),
            Some((first, _)) => {
                Err(format!("'{prefix}' is already on line {first}; remove one of them"))
            }
        }
    }

    /// The name of the smallest network with `address`, which is not an IPv4 address in IPv6.
    pub(crate) fn name_of(&self, address: IpAddr) -> Option<&Arc<str>> {
        self.lengths.iter().rev().find_map(|length| {
            let network = IpNet::new(address, *length).ok()?.trunc();
            self.names.get(&network).map(|(_, name)| name)
        })
    }
}

/// Reads a network, as `10.0.0.0/8`, or a single address. `None` for anything else.
pub(crate) fn network(text: &str) -> Option<IpNet> {
    let network = text.parse().ok().or_else(|| text.parse().ok().map(|ip: IpAddr| IpNet::from(ip)));
    network.map(|network: IpNet| network.trunc())
}

/// The line of a record, whose position may be that of empty lines before it.
fn line_of(text: &[u8], position: &csv::Position) -> u64 {
    let start = usize::try_from(position.byte()).unwrap_or_default();
    let ends = text[start..].iter().take_while(|byte| b"\r\n".contains(byte));
    position.line() + ends.filter(|byte| **byte == b'\n').count() as u64
}

/// A network of IPv4 addresses in IPv6 as one of IPv4.
fn canonical(network: IpNet) -> IpNet {
    let mapped = match network {
        IpNet::V6(network) => {
            network.addr().to_ipv4_mapped().zip(network.prefix_len().checked_sub(96))
        }
        IpNet::V4(_) => None,
    };
    let mapped = mapped.and_then(|(address, length)| Ipv4Net::new(address, length).ok());
    mapped.map_or(network, IpNet::V4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::fmt::Write;

    fn parse(rows: &str) -> Result<NetworkNames> {
        NetworkNames::parse(Path::new("n.csv"), format!("prefix,network\n{rows}").as_bytes())
    }

    fn number(random: &mut Random, below: u32) -> u32 {
        random.below(below as usize) as u32
    }

    #[test]
    fn the_longest_prefix_decides() {
        let networks = "0.0.0.0/0,all\n192.0.2.0/24, a net \n192.0.2.7,\"one, alone\"\n192.0.2.128/25,half\n\
                        ::/0,six\n2001:db8::/32,a net\n::ffff:198.51.100.0/120,mapped\n";
        assert!(
            parse(networks).unwrap_err().to_string().contains("n.csv:8: more than 5 different")
        );
        let networks = parse(&networks.replace("six", "all")).unwrap();
        for (address, name) in [
            ("203.0.113.1", "all"),
            ("192.0.2.1", "a net"),
            ("192.0.2.7", "one, alone"),
            ("192.0.2.200", "half"),
            ("198.51.100.9", "mapped"),
            ("2001:db8:1::1", "a net"),
            ("2001:db9::", "all"),
        ] {
            let found = networks.name_of(address.parse().unwrap()).unwrap();
            assert_eq!(&**found, name, "{address}");
        }
        let networks = parse("192.0.2.0/24,a\n").unwrap();
        assert_eq!(networks.name_of("192.0.3.0".parse().unwrap()), None);
        assert_eq!(networks.name_of("c000:200::".parse().unwrap()), None);
    }

    #[test]
    fn every_name_is_that_of_trying_each_network() {
        let random = &mut Random(1);
        for _ in 0..50 {
            let mut list: Vec<(u32, u32, String)> = Vec::new();
            for _ in 0..30 {
                let host = u32::MAX >> (20 + number(random, 12));
                let first = (0xc000_0000 | number(random, 1 << 16)) & !host;
                if !list.iter().any(|(other, size, _)| (*other, *size) == (first, host)) {
                    list.push((first, host, format!("n{}", number(random, 5))));
                }
            }
            let rows = list.iter().fold(String::new(), |mut rows, (first, host, name)| {
                let address = std::net::Ipv4Addr::from_bits(*first);
                writeln!(rows, "{address}/{},{name}", host.leading_zeros()).unwrap();
                rows
            });
            let networks = parse(&rows).unwrap();
            for _ in 0..500 {
                let address = 0xc000_0000 | number(random, 1 << 16);
                let holds = list.iter().filter(|(first, host, _)| address & !host == *first);
                let expected = holds.min_by_key(|(_, host, _)| host).map(|(_, _, name)| &**name);
                let found = networks.name_of(std::net::Ipv4Addr::from_bits(address).into());
                assert_eq!(found.map(|name| &**name), expected, "{address:x} in {rows}");
            }
        }
    }

    #[test]
    fn a_bad_row_is_an_error_with_its_line() {
        for (rows, why) in [
            ("192.0.2.0/24,a\n192.0.2.0/33,b\n", "n.csv:3: '192.0.2.0/33' is not a network"),
            ("10.0.0.1 - 10.0.0.9,b\n", "n.csv:2: '10.0.0.1 - 10.0.0.9' is not a network"),
            ("192.0.2.0/24,\n", "n.csv:2: the name of a network must have 1 to 200 bytes"),
            ("192.0.2.0/24,a\n\n192.0.2.9/24,b\n", "n.csv:4: '192.0.2.9/24' is already on line 2"),
            ("192.0.2.0/24,a,b\n", "n.csv:2: expected 2 cells, found 3"),
        ] {
            let found = parse(rows).unwrap_err().to_string();
            assert!(found.contains(why), "{found}");
        }
        let long = format!("192.0.2.0/24,{}\n", "é".repeat(101));
        assert!(parse(&long).unwrap_err().to_string().contains("1 to 200 bytes"));
        for text in ["", "network,prefix\n", "192.0.2.0/24,a\n"] {
            let found = NetworkNames::parse(Path::new("n.csv"), text.as_bytes()).unwrap_err();
            let why = "n.csv:1: the first line must be prefix,network";
            assert!(found.to_string().contains(why), "{found}");
        }
    }
}
