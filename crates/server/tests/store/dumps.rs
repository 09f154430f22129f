//! Dumps: one store writes them, another store reads them.

use std::io::Cursor;

use bytes::Bytes;
use krm_template_server_core::Store;
use krm_template_server_core::store::{Error, dump, load};
use libtest_mimic::Trial;

use crate::store::waiting;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        waiting("dump/a_dump_loads_into_another_store", a_dump_loads_into_another_store),
        waiting("dump/a_dump_is_a_line_per_item", a_dump_is_a_line_per_item),
        waiting("dump/a_wrong_line_is_named_and_not_quoted", a_wrong_line_is_named),
    ]
}

async fn a_dump_loads_into_another_store() {
    let memory = Store::memory();
    for index in 0..1_203 {
        let value = Bytes::from(format!("{{\"n\":\"{index} ä\\n\"}}"));
        memory.create(&format!("/t/{index:04}"), value).await.unwrap();
    }
    memory.create("/u", Bytes::from_static(&[0xff, 0, b'\n'])).await.unwrap();
    let mut text = vec![];
    assert_eq!(dump(&memory, &mut text).await.unwrap(), [""; 0]);
    assert_eq!(text.split_inclusive(|byte| *byte == b'\n').count(), 1_205);
    let folder = tempfile::tempdir().unwrap();
    let file = Store::file(&folder.path().join("store.redb")).unwrap();
    assert_eq!(load(&file, Cursor::new(&text)).await.unwrap(), 1_204);
    // It continues above the last revision, and older ones are expired.
    assert_eq!(file.revision().await, Ok(2 * 1_204));
    let expired = file.watch("", 1_203).await.unwrap_err();
    assert_eq!(expired, Error::Compacted(2 * 1_204));
    let mut again = vec![];
    dump(&file, &mut again).await.unwrap();
    let items =
        |dump: Vec<u8>| String::from_utf8(dump).unwrap().split_once('\n').unwrap().1.to_owned();
    assert_eq!(items(again), items(text));
}

async fn a_dump_is_a_line_per_item() {
    let store = Store::memory();
    store.create("/b", Bytes::from_static(b"{\"a\": 1}\n")).await.unwrap();
    store.create("/a", Bytes::from_static(&[0xff])).await.unwrap();
    let mut text = vec![];
    dump(&store, &mut text).await.unwrap();
    let expected = "{\"revision\":2}\n\
                    {\"key\":\"/a\",\"base64\":\"/w==\"}\n\
                    {\"key\":\"/b\",\"value\":\"{\\\"a\\\": 1}\\n\"}\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

async fn a_wrong_line_is_named() {
    let good = r#"{"key":"/a","value":"1"}"#;
    for (bad, why) in [
        (r#"{"key":"/b","value":{"secret":1}}"#, "line 2: column"),
        (r#"{"key":"/b","secret":"1"}"#, "line 2: column"),
        (r#"{"key":"/b"}"#, "line 2: expected `value` or `base64`"),
        (r#"{"key":"/b","value":"1","base64":"AA=="}"#, "line 2: expected `value` or `base64`"),
        (r#"{"key":"/b","base64":"secret"}"#, "line 2: not base64"),
        (r#"{"key":"/a","value":"secret"}"#, "line 2: key `/a`: the key exists"),
        (r#"{"key":"/b","value":"secret"#, "line 2: column"),
    ] {
        let store = Store::memory();
        let text = format!("{good}\n{bad}\n");
        let error = format!("{:#}", load(&store, Cursor::new(text)).await.unwrap_err());
        assert!(error.starts_with(why) && !error.contains("secret"), "{bad}: {error}");
        assert_eq!(store.revision().await, Ok(1));
    }
}
