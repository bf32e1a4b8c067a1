//! `#[linpoint_test::test]`: a whole test, or a test of an object, as a function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprCall, ItemFn, Result, ReturnType, Token, parse::Parser as _, parse2};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let settings = settings(arguments)?;
    let function: ItemFn = parse2(item)?;
    let signature = &function.sig;
    if !signature.inputs.is_empty() || !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            signature,
            "a test has no arguments and no generics",
        ));
    }
    let ItemFn {
        attrs, vis, block, ..
    } = &function;
    let name = &signature.ident;
    let run = match (&signature.output, &signature.asyncness) {
        (ReturnType::Type(_, object), None) => quote! {
            let object: #object = #block;
            object #(.#settings)* .run();
        },
        (ReturnType::Type(..), Some(_)) => {
            return Err(Error::new_spanned(
                signature,
                "an async test is a whole test, and returns nothing",
            ));
        }
        (ReturnType::Default, None) => quote! {
            ::linpoint_test::Model::new(|| #block) #(.#settings)* .run();
        },
        (ReturnType::Default, Some(_)) => quote! {
            ::linpoint_test::Model::new(|| ::linpoint_test::future::block_on(async #block)) #(.#settings)* .run();
        },
    };
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            #run
        }
    })
}

/// The settings are calls of methods: `preemptions(3), spurious(1)`.
fn settings(arguments: TokenStream) -> Result<Vec<ExprCall>> {
    let settings = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(arguments)?;
    settings
        .into_iter()
        .map(|setting| match setting {
            Expr::Call(call) => Ok(call),
            other => Err(Error::new_spanned(
                other,
                "a setting is a method with its arguments, such as `preemptions(3)`",
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_explained() {
        let refused = |arguments, item| match expand(arguments, item) {
            Ok(code) => panic!("it is taken: {code}"),
            Err(error) => error.to_string(),
        };
        let argument = refused(
            quote!(),
            quote!(
                fn a(x: u8) {}
            ),
        );
        assert_eq!(argument, "a test has no arguments and no generics");
        let setting = refused(
            quote!(preemptions = 3),
            quote!(
                fn a() {}
            ),
        );
        assert!(setting.contains("preemptions(3)"), "{setting}");
        let result = refused(
            quote!(),
            quote!(
                async fn a() -> u8 {
                    1
                }
            ),
        );
        assert!(result.contains("returns nothing"), "{result}");
    }
}
