//! Enumerations whose values have names in reports and files.

/// Declares an enumeration with a text for each value, and the values in order (`ALL`).
#[doc(hidden)]
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$value_meta:meta])* $value:ident = $text:literal, )*
        }
    ) => {
        $(#[$meta])*
        $visibility enum $name {
            $( $(#[$value_meta])* $value, )*
        }

        impl $name {
            /// All values, in the order of the declaration.
            $visibility const ALL: [$name; [$($text),*].len()] = [$($name::$value),*];

            /// The name.
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }
    };
}
