//! The README says what the program does.

use std::fs;

use botaudit::report::columns::TABLES;

use crate::program::repository;

fn readme() -> String {
    fs::read_to_string(repository().join("README.md")).unwrap()
}

#[test]
fn every_column_stands_in_the_readme_as_declared() {
    let readme = readme();
    for table in TABLES {
        assert!(readme.contains(&format!("`{}`", table.file)), "{} is missing", table.file);
        for column in table.columns {
            let row = format!("| `{}` | {} | {} |", column.name, column.unit, column.meaning);
            assert!(readme.contains(&row), "{}: missing or outdated:\n{row}", table.file);
        }
    }
}

#[test]
fn every_exit_code_is_explained() {
    let readme = readme();
    for code in ["| 0 |", "| 1 |", "| 2 |", "| 3 |"] {
        assert!(readme.contains(code), "{code}");
    }
}
