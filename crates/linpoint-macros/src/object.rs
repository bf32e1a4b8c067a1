//! `#[linpoint_test::object]`: the operations of an object, marked where they are written.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Meta, Pat, Result, Token,
    Type, parse::Parser as _, parse2,
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(
            arguments,
            "the attribute takes no arguments; those of an operation are at its `#[op(..)]`",
        ));
    }
    let mut block: ItemImpl = parse2(item)?;
    if let Some((_, of, _)) = &block.trait_ {
        return Err(Error::new_spanned(
            of,
            "operations are methods of the type itself, not of a trait",
        ));
    }
    let mut parts = Vec::new();
    let mut constructor = None;
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else {
            continue;
        };
        if let Some(mark) = take(&mut method.attrs, "op") {
            parts.push(operation(method, &mark)?);
        } else if take(&mut method.attrs, "invariant").is_some() {
            let name = &method.sig.ident;
            parts.push(quote!(.invariant(|object: &Self| object.#name())));
        } else if let Some(mark) = take(&mut method.attrs, "new") {
            let name = &method.sig.ident;
            if constructor.replace(quote!(Self::#name)).is_some() {
                return Err(Error::new_spanned(mark, "an object has one constructor"));
            }
        }
    }
    if parts.is_empty() {
        return Err(Error::new_spanned(
            &block.self_ty,
            "no method is marked with `#[op]`",
        ));
    }
    let constructor =
        constructor.unwrap_or_else(|| quote!(<Self as ::core::default::Default>::default));
    let object = &block.self_ty;
    let (generics, _, bounds) = block.generics.split_for_impl();
    Ok(quote! {
        #block

        impl #generics #object #bounds {
            /// The object under test, with the operations that are marked with `#[op]`.
            pub fn object() -> ::linpoint_test::Object<Self> {
                ::linpoint_test::object(#constructor) #(#parts)*
            }
        }
    })
}

/// Removes the attribute of this name.
fn take(attributes: &mut Vec<Attribute>, name: &str) -> Option<Attribute> {
    let place = attributes
        .iter()
        .position(|attribute| attribute.path().is_ident(name))?;
    Some(attributes.remove(place))
}

/// The calls that add an operation and what is said about it.
fn operation(method: &mut ImplItemFn, mark: &Attribute) -> Result<TokenStream> {
    let name = method.sig.ident.clone();
    let label = name.to_string();
    let mut values = Vec::new();
    let mut receiver = false;
    for input in &mut method.sig.inputs {
        match input {
            FnArg::Receiver(this) if this.reference.is_some() && this.mutability.is_none() => {
                receiver = true;
            }
            FnArg::Receiver(this) => {
                return Err(Error::new_spanned(this, "an operation takes `&self`"));
            }
            FnArg::Typed(argument) => {
                let Some(any) = take(&mut argument.attrs, "any") else {
                    return Err(Error::new_spanned(
                        argument,
                        "say which values it takes: `#[any([1, 2])]`",
                    ));
                };
                let Pat::Ident(_) = &*argument.pat else {
                    return Err(Error::new_spanned(&argument.pat, "an argument has a name"));
                };
                values.push((any.parse_args::<Expr>()?, (*argument.ty).clone()));
            }
        }
    }
    if !receiver {
        return Err(Error::new_spanned(
            &method.sig,
            "an operation takes `&self`",
        ));
    }
    let add = added(&name, &label, &values, method.sig.asyncness.is_some());
    let marks = marks(mark)?
        .into_iter()
        .map(|(said, arguments)| quote!(.#said(#label, #arguments)));
    Ok(quote!(#add #(#marks)*))
}

fn added(name: &Ident, label: &str, values: &[(Expr, Type)], is_async: bool) -> TokenStream {
    let places: Vec<Ident> = (0..values.len())
        .map(|place| format_ident!("argument_{place}"))
        .collect();
    let (asyncness, awaited) = match is_async {
        true => (quote!(async), quote!(.await)),
        false => (quote!(), quote!()),
    };
    if values.is_empty() {
        let add = match is_async {
            true => quote!(op0_async),
            false => quote!(op0),
        };
        return quote!(.#add(#label, #asyncness |object: &Self| object.#name()#awaited));
    }
    let add = match is_async {
        true => quote!(op_async),
        false => quote!(op),
    };
    let types: Vec<&Type> = values.iter().map(|(_, type_)| type_).collect();
    let (pattern, type_) = match (&places[..], &types[..]) {
        ([place], [type_]) => (quote!(#place), quote!(#type_)),
        _ => (quote!((#(#places),*)), quote!((#(#types),*))),
    };
    // All combinations, those of the last argument first.
    let copies = places
        .iter()
        .map(|place| quote!(::core::clone::Clone::clone(&#place)));
    let mut all = match &places[..] {
        [_] => quote!(::core::iter::once(#(#copies)*)),
        _ => quote!(::core::iter::once((#(#copies),*))),
    };
    for ((values, type_), place) in values.iter().zip(&places).rev() {
        all = quote! {
            ::core::iter::IntoIterator::into_iter(#values)
                .flat_map(|#place: #type_| #all.collect::<::std::vec::Vec<_>>())
        };
    }
    quote!(.#add(#label, #all, #asyncness |object: &Self, #pattern: #type_| object.#name(#(#places),*)#awaited))
}

/// What is said about an operation: methods of `Object` that take its name, with what else they take.
fn marks(mark: &Attribute) -> Result<Vec<(Ident, TokenStream)>> {
    if let Meta::Path(_) = &mark.meta {
        return Ok(Vec::new());
    }
    let said = Punctuated::<Meta, Token![,]>::parse_terminated
        .parse2(mark.meta.require_list()?.tokens.clone())?;
    said.into_iter()
        .map(|said| match said {
            Meta::Path(path) => Ok((path.require_ident()?.clone(), TokenStream::new())),
            Meta::List(list) => Ok((list.path.require_ident()?.clone(), list.tokens)),
            Meta::NameValue(other) => Err(Error::new_spanned(
                other,
                "say `may_block`, or a method with its other arguments, such as `only_on([0])`",
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the attribute says about a block that it does not take.
    fn refused(item: TokenStream) -> String {
        match expand(TokenStream::new(), item) {
            Ok(code) => panic!("it is taken: {code}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let none = refused(quote!(impl Queue { fn push(&self) {} }));
        assert_eq!(none, "no method is marked with `#[op]`");
        let argument = refused(quote!(impl Queue { #[op] fn push(&self, x: u8) {} }));
        assert!(argument.contains("#[any([1, 2])]"), "{argument}");
        let exclusive = refused(quote!(impl Queue { #[op] fn push(&mut self) {} }));
        assert_eq!(exclusive, "an operation takes `&self`");
        let free = refused(quote!(impl Queue { #[op] fn push() {} }));
        assert_eq!(free, "an operation takes `&self`");
        let of_trait = refused(quote!(impl Push for Queue { #[op] fn push(&self) {} }));
        assert!(of_trait.contains("not of a trait"), "{of_trait}");
        let mark = refused(quote!(impl Queue { #[op(blocks = true)] fn push(&self) {} }));
        assert!(mark.contains("may_block"), "{mark}");
        let two =
            refused(quote!(impl Queue { #[new] fn a() {} #[new] fn b() {} #[op] fn c(&self) {} }));
        assert_eq!(two, "an object has one constructor");
    }
}
