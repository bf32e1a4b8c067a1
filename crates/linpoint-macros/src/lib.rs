//! The attributes of `linpoint-test`, which documents them: `linpoint_test::object` and `linpoint_test::test`.

mod object;
mod test;

use proc_macro::TokenStream;

/// See `linpoint_test::object`.
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(object::expand(arguments.into(), item.into()))
}

/// See `linpoint_test::test`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(test::expand(arguments.into(), item.into()))
}

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
