//! `double_option` of serde_with, which Debian does not package: absent, null and a value are three things.
pub mod rust {
    pub mod double_option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
            Option::<T>::deserialize(from).map(Some)
        }

        pub fn serialize<S: Serializer, T: Serialize>(value: &Option<Option<T>>, to: S) -> Result<S::Ok, S::Error> {
            match value {
                None => to.serialize_unit(),
                Some(value) => value.serialize(to),
            }
        }
    }
}
