//! The memory that a run takes if nobody says how much: a part of what the system has free.

use std::path::{Path, PathBuf};
use std::{fs, iter};

/// The least, and what is taken where the system does not say what is free.
const BYTES_MIN: usize = 256 << 20;

/// One of so many parts of what is free is taken: others need memory, too, and what is dropped can be read again.
const FREE_PARTS: u64 = 4;

/// The directories of control groups: of version 2, and of version 1 for memory.
const GROUPS: &str = "/sys/fs/cgroup";
const OLD_GROUPS: &str = "/sys/fs/cgroup/memory";

/// A quarter of what is free, at least 256 MiB. Call it before the run is confined.
pub(crate) fn default_bytes() -> usize {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let groups = group_directories(&text("/proc/self/cgroup"));
    let groups: Vec<GroupTexts> = groups.iter().filter_map(|group| group.read()).collect();
    part_of(free_bytes(&text("/proc/meminfo"), &groups))
}

fn part_of(free_bytes: Option<u64>) -> usize {
    let part = usize::try_from(free_bytes.unwrap_or_default() / FREE_PARTS);
    part.unwrap_or(usize::MAX).max(BYTES_MIN)
}

/// What the machine has free, or less if one of the control groups of this process may take less.
/// `None` if nothing says so.
fn free_bytes(meminfo: &str, groups: &[GroupTexts]) -> Option<u64> {
    let of_machine = meminfo.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("MemAvailable:")?.strip_suffix("kB")?;
        kibibytes.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    groups.iter().filter_map(GroupTexts::free_bytes).chain(of_machine).min()
}

/// What the files of a control group say.
struct GroupTexts {
    /// The limit; not a number if there is none.
    max: String,
    /// The bytes in use, with those of files.
    current: String,
    /// One number a line.
    stat: String,
}

impl GroupTexts {
    fn free_bytes(&self) -> Option<u64> {
        let [max, current]: [Option<u64>; 2] =
            [&self.max, &self.current].map(|text| text.trim().parse().ok());
        // The kernel drops these before it refuses memory. In version 1, the second name includes groups below.
        let files = ["total_inactive_file ", "inactive_file "].iter().find_map(|name| {
            self.stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
        });
        Some(max?.saturating_sub(current?.saturating_sub(files.unwrap_or_default())))
    }
}

/// The directory of a control group, and the names of its files.
#[derive(Debug, Eq, PartialEq)]
struct GroupDirectory {
    path: PathBuf,
    max: &'static str,
    current: &'static str,
}

impl GroupDirectory {
    /// `None` if it has no limit for memory, or is not visible here.
    fn read(&self) -> Option<GroupTexts> {
        let text = |name: &str| fs::read_to_string(self.path.join(name)).ok();
        let (max, current) = (text(self.max)?, text(self.current)?);
        Some(GroupTexts { max, current, stat: text("memory.stat").unwrap_or_default() })
    }
}

/// The directories of the groups that `cgroup`, a file of the kernel, names, and of those above them:
/// each may have a limit. In a container the names may be those outside of it, and its own group is the topmost one.
fn group_directories(cgroup: &str) -> Vec<GroupDirectory> {
    let groups = cgroup.lines().filter_map(|line| {
        let [_, controllers, path] = line.splitn(3, ':').collect::<Vec<_>>().try_into().ok()?;
        let (root, max, current) = match controllers {
            "" => (GROUPS, "memory.max", "memory.current"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                (OLD_GROUPS, "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => return None,
        };
        let paths = iter::successors(Some(Path::new(path)), |path| path.parent());
        let under_root = move |path: &Path| {
            let path = Path::new(root).join(path.strip_prefix("/").unwrap_or(path));
            GroupDirectory { path, max, current }
        };
        Some(paths.map(under_root))
    });
    groups.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Available are 22,416 MiB.
    const MEMINFO: &str = "MemTotal:       24683520 kB\nMemFree:         7237632 kB\n\
                           MemAvailable:   22953984 kB\nBuffers:          102400 kB\n";

    fn group(max: &str, current: &str, stat: &str) -> GroupTexts {
        let [max, current, stat] = [max, current, stat].map(str::to_owned);
        GroupTexts { max, current, stat }
    }

    #[test]
    fn a_quarter_of_what_is_free_is_taken() {
        assert_eq!(part_of(Some(8192 * MIB)), 2048 << 20);
        assert_eq!(part_of(Some(1024 * MIB + 4)), (256 << 20) + 1);
        for little in [None, Some(0), Some(1023 * MIB)] {
            assert_eq!(part_of(little), 256 << 20, "{little:?}");
        }
    }

    #[test]
    fn the_lowest_limit_counts() {
        let free = |meminfo: &str, groups: &[GroupTexts]| {
            free_bytes(meminfo, groups).map(|bytes| bytes as f64 / MIB as f64)
        };
        assert_eq!(free("", &[]), None);
        assert_eq!(free("MemTotal: 24683520 kB\n", &[]), None, "an old kernel");
        assert_eq!(free("MemAvailable: many kB\n", &[]), None);
        assert_eq!(free(MEMINFO, &[]), Some(22416.0));
        let unlimited = || group("max\n", "1578123264\n", "");
        let old_unlimited = group("9223372036854771712\n", "1578123264\n", "");
        assert_eq!(free(MEMINFO, &[unlimited(), old_unlimited]), Some(22416.0));
        assert_eq!(free("", &[unlimited()]), None);
        let limited = || group("1073741824\n", "268435456\n", "anon 5\n");
        assert_eq!(free(MEMINFO, &[unlimited(), limited()]), Some(768.0));
        assert_eq!(free("", &[limited()]), Some(768.0));
        // What is cached of files is free, too, in the names of both versions.
        let stat = "anon 5\ninactive_file 134217728\nactive_file 7\n";
        assert_eq!(free(MEMINFO, &[group("1073741824\n", "268435456\n", stat)]), Some(896.0));
        let stat = "inactive_file 1\ntotal_inactive_file 134217728\n";
        assert_eq!(free(MEMINFO, &[group("1073741824\n", "268435456\n", stat)]), Some(896.0));
        assert_eq!(free(MEMINFO, &[group("1048576\n", "2097152\n", "")]), Some(0.0), "over it");
        assert_eq!(free(MEMINFO, &[group("1048576\n", "damaged", "")]), Some(22416.0));
    }

    #[test]
    fn each_group_above_may_have_a_limit() {
        let paths = |cgroup: &str| -> Vec<String> {
            let directories = group_directories(cgroup).into_iter();
            directories.map(|it| format!("{}/{}", it.path.display(), it.max)).collect()
        };
        assert_eq!(
            paths("0::/user.slice/a:b\n"),
            [
                "/sys/fs/cgroup/user.slice/a:b/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup//memory.max"
            ]
        );
        assert_eq!(
            paths("8:pids:/\n4:cpu,memory:/docker/x\n1:name=systemd:/\n"),
            ["docker/x/", "docker/", "/"]
                .map(|path| format!("/sys/fs/cgroup/memory/{path}memory.limit_in_bytes"))
        );
        for nothing in ["", "0:\n", "5:memory_of_others:/\n"] {
            assert_eq!(paths(nothing), [""; 0], "{nothing}");
        }
    }
}
