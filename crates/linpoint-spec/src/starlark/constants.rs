//! The constants of a specification file: `kind`, `calls`, `methods` and `defaults`.

use linpoint::Value;
use linpoint::spec::{Kind, Params};

use super::convert::{Parts, write};
use super::{Function, StarlarkModel, place_of, roles};
use crate::data::Data;
use crate::flat::{Flat, Reader, Writer};
use crate::model::{Model, ModelCall, ModelError};

impl StarlarkModel {
    /// Reads all constants. Parameters that were not given have the values of `defaults`.
    pub(super) fn read_constants(&mut self, text: &str, given: &Params) -> Result<(), ModelError> {
        self.params = self.read_params(text, given)?;
        self.kind = self.read_kind(text)?;
        self.methods = self.read_methods(text)?;
        self.calls = self.read_calls(text)?;
        Ok(())
    }

    /// The names of the parameters, if the file lists them.
    pub(crate) fn parameters(&self) -> Option<Vec<String>> {
        let Ok(Some(Data::Dict(defaults))) = self.constant("", "defaults") else {
            return None;
        };
        let name = |(name, _): &(Data, Data)| match name {
            Data::Text(name) => Some(name.to_string()),
            _ => None,
        };
        Some(defaults.iter().filter_map(name).collect())
    }

    /// The data of a constant of the file.
    fn constant(&self, text: &str, name: &str) -> Result<Option<Data>, ModelError> {
        let Ok(Some(value)) = self.module.get_option(name) else {
            return Ok(None);
        };
        let mut data = Writer::default();
        write(0, value.value(), &mut data, &mut Parts::default())
            .map(|()| Some(Reader::new(data.bytes()).data()))
            .map_err(|what| self.wrong(text, name, &format!("{name} contains {what}")))
    }

    fn wrong(&self, text: &str, name: &str, reason: &str) -> ModelError {
        ModelError(format!("{}: {reason}", place_of(&self.file, text, name)))
    }

    fn read_params(&self, text: &str, given: &Params) -> Result<Flat, ModelError> {
        let mut params = Params::new();
        if let Some(defaults) = self.constant(text, "defaults")? {
            let wrong = || {
                let reason = format!(
                    "defaults is {defaults}; it must be a dictionary of the parameters with their values"
                );
                self.wrong(text, "defaults", &reason)
            };
            let Data::Dict(pairs) = &defaults else {
                return Err(wrong());
            };
            for (name, value) in pairs.iter() {
                let Data::Text(name) = name else {
                    return Err(wrong());
                };
                params.insert(name.to_string(), value.to_value());
            }
        }
        params.extend(
            given
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let mut data = Writer::default();
        data.value(&Value::map(
            params
                .into_iter()
                .map(|(name, value)| (Value::from(name), value)),
        ));
        Ok(Flat::from(data.bytes()))
    }

    fn read_kind(&self, text: &str) -> Result<Option<Kind>, ModelError> {
        let kind = match self.module.get_option("kind") {
            Ok(Some(value)) if value.value().get_type() == "function" => {
                let params = |arguments: &mut Writer| arguments.data(self.params.bytes());
                Some(self.call(Function::Kind, params, |kind| Ok(kind.data().data()))?)
            }
            _ => self.constant(text, "kind")?,
        };
        let kind = roles::kind(&kind.unwrap_or(Data::None))
            .map_err(|reason| self.wrong(text, "kind", &reason))?;
        if kind.is_some() && !self.has(Function::Role) {
            let reason = "it has a kind, so it must define role(method, arg, ret)";
            return Err(self.wrong(text, "kind", reason));
        }
        Ok(kind)
    }

    /// The list `calls`: pairs of method and argument, which must be calls that the object has.
    fn read_calls(&self, text: &str) -> Result<Vec<(String, Value)>, ModelError> {
        let wrong = |data: &Data| {
            let reason = format!("calls is {data}; it must be a list of pairs (method, argument)");
            self.wrong(text, "calls", &reason)
        };
        let pair = |data: &Data| {
            let (Data::Tuple(pair) | Data::List(pair)) = data else {
                return Err(wrong(data));
            };
            let [Data::Text(method), argument] = &**pair else {
                return Err(wrong(data));
            };
            let call = ModelCall {
                process: Value::Nil,
                method: method.as_ref().into(),
                argument: argument.to_value(),
            };
            match self.refusal(&call, None)? {
                None => Ok((method.to_string(), call.argument)),
                Some(reason) => {
                    let reason = format!("calls has {data}, which is refused: {reason}");
                    Err(self.wrong(text, "calls", &reason))
                }
            }
        };
        match self.constant(text, "calls")? {
            None => Ok(Vec::new()),
            Some(Data::List(calls) | Data::Tuple(calls)) => calls.iter().map(pair).collect(),
            Some(data) => Err(wrong(&data)),
        }
    }

    /// The list `methods`: their names.
    fn read_methods(&self, text: &str) -> Result<Option<Vec<String>>, ModelError> {
        let wrong = |data: &Data| {
            let reason = format!("methods is {data}; it must be a list of names");
            self.wrong(text, "methods", &reason)
        };
        let Some(data) = self.constant(text, "methods")? else {
            return Ok(None);
        };
        let (Data::List(names) | Data::Tuple(names)) = &data else {
            return Err(wrong(&data));
        };
        let names = names.iter().map(|name| match name {
            Data::Text(name) => Ok(name.to_string()),
            _ => Err(wrong(&data)),
        });
        names.collect::<Result<_, _>>().map(Some)
    }
}
