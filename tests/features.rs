//! The promises of the manifests: few crates for robots.txt alone, and the minimum Rust version.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The most crates, including itself, that a user of `botaudit-robots` compiles.
const CRATES_MAX: usize = 12;

/// The output of `program` with `arguments`, run in this repository.
fn printed(program: &str, arguments: &str) -> String {
    let ran = Command::new(program)
        .args(arguments.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_library_alone_compiles_and_needs_few_crates() {
    let tree = "tree -p botaudit-robots --edges normal --prefix none --locked --offline";
    let tree = printed(env!("CARGO"), tree);
    let crates: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains("botaudit-robots") && crates.contains("regex-automata"), "{tree}");
    assert!(crates.len() <= CRATES_MAX, "{tree}");
    printed(env!("CARGO"), "check -p botaudit-robots --lib --locked --offline");
}

/// Clippy's `incompatible_msrv` checks the rest: no item of the standard library is newer.
#[test]
fn the_declared_rust_is_installed_suffices_for_all_crates_and_is_documented() {
    let declared = env!("CARGO_PKG_RUST_VERSION");
    let installed = printed("rustc", "--version");
    let installed = installed.split(' ').nth(1).unwrap();
    assert!(version(declared) <= version(installed), "{declared} is newer than {installed}");
    let metadata = metadata_of_the_program();
    let of_crates: Vec<&str> = metadata
        .split("\"rust_version\":\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(of_crates.len() > 100, "{of_crates:?}");
    let newest = of_crates.into_iter().max_by_key(|of| version(of)).unwrap();
    assert_eq!(version(newest), version(declared), "a crate needs {newest}");
    for name in ["README.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        assert!(text.contains(&format!(" {declared} or later")), "{name}");
    }
}

/// Nobody who builds or tests the program needs the crates of the Python module.
#[test]
fn the_python_module_is_a_package_of_its_own() {
    // Downloads the crates of other systems, if they are not there.
    let tree = "tree --edges normal,build,dev --target all --prefix none --locked";
    let tree = printed(env!("CARGO"), tree);
    assert!(tree.contains("clap ") && !tree.contains("pyo3"), "{tree}");
    assert!(fs::read_to_string("Cargo.lock").unwrap().contains("\"pyo3\""));
}

/// What cargo says of the crates of this package for all systems, without those of the Python
/// module, which need not be downloaded.
fn metadata_of_the_program() -> String {
    let copy = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace(", \"python\"]", "]");
    fs::write(copy.path().join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), copy.path().join("Cargo.lock")).unwrap();
    let robots = "crates/robots/Cargo.toml";
    fs::create_dir_all(copy.path().join("crates/robots/src")).unwrap();
    fs::copy(root.join(robots), copy.path().join(robots)).unwrap();
    fs::create_dir(copy.path().join("src")).unwrap();
    for library in ["src/lib.rs", "crates/robots/src/lib.rs"] {
        fs::write(copy.path().join(library), "").unwrap();
    }
    let manifest = copy.path().join("Cargo.toml").display().to_string();
    let metadata = format!("metadata --format-version 1 --manifest-path {manifest}");
    printed(env!("CARGO"), &metadata)
}

/// `1.89` and `1.89.0` as numbers.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(['.', '-']).map(|number| number.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// The dependencies of this crate in the lock file `path`.
fn locked(path: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (_, rest) = text.split_once("name = \"botaudit\"\n").unwrap();
    let (_, rest) = rest.split_once("dependencies = [\n").unwrap();
    let (list, _) = rest.split_once(']').unwrap();
    // A version follows where several are locked.
    let names = list.lines().map(|line| line.trim_matches([' ', '"', ',']));
    names.map(|name| name.split(' ').next().unwrap().to_owned()).collect()
}

/// `cargo build --locked` refuses an older lock file.
#[test]
fn the_lock_files_of_other_programs_here_name_all_dependencies() {
    let for_tests = ["allocation-counter", "rcgen", "rustls"].map(str::to_owned);
    let own: BTreeSet<_> = &locked("Cargo.lock") - &for_tests.into();
    assert!(own.len() > 20, "{own:?}");
    for path in ["tests/fuzz/Cargo.lock", "benches/peers/Cargo.lock"] {
        assert_eq!(locked(path), own, "{path}: run `cargo metadata` in its directory");
    }
}
