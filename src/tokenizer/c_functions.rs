// SPDX-License-Identifier: Apache-2.0
//! Calls Hugging Face's crate tokenizers for the class ladon::Tokenizer. tokenizer.cpp declares these functions, and is
//! their only caller. A panic or an error becomes an `Answer` with a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::slice;
use std::str::from_utf8;

use tokenizers::{EncodeInput, Encoding, PostProcessor, Tokenizer, TruncationParams, truncate_encodings};

/// The result of a call. `ids` and `type_ids` have `count` values. `text` is UTF-8, and the message of an error. The
/// pointers point into `owned`, which `ladon_tokenizer_free` frees.
#[repr(C)]
pub struct Answer {
    failed: bool,
    ids: *const u32,
    type_ids: *const u32,
    count: usize,
    text: *const u8,
    text_bytes: usize,
    owned: *mut Values,
}

#[derive(Default)]
pub struct Values {
    ids: Vec<u32>,
    type_ids: Vec<u32>,
    text: String,
}

/// Calls `compute`, and converts its result, its error or its panic into an Answer.
fn answer(compute: impl FnOnce() -> Result<Values, String>) -> Answer {
    let result = catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!("the crate tokenizers panics: {}", text.unwrap_or("no message")))
    });
    let failed = result.is_err();
    let values = result.unwrap_or_else(|text| Values { text, ..Values::default() });
    let owned = Box::new(values);
    Answer {
        failed,
        ids: owned.ids.as_ptr(),
        type_ids: owned.type_ids.as_ptr(),
        count: owned.ids.len(),
        text: owned.text.as_ptr(),
        text_bytes: owned.text.len(),
        owned: Box::into_raw(owned),
    }
}

/// Returns the `count` values at `data`, which may be null if `count` is 0.
///
/// # Safety
/// The caller keeps the values unchanged while the slice is in use.
unsafe fn slice_of<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(data, count) } }
}

/// Reads the text of a tokenizer.json, and stores the tokenizer in `*out`, which stays null after an error.
///
/// # Safety
/// `json` has `bytes` bytes. `out` is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_open(json: *const u8, bytes: usize, out: *mut *mut Tokenizer) -> Answer {
    unsafe { *out = null_mut() };
    answer(|| {
        let mut tokenizer = Tokenizer::from_bytes(unsafe { slice_of(json, bytes) }).map_err(|error| error.to_string())?;
        // Files of sentence encoders pad each text to a fixed length. The caller of `encode` gives the largest length.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        unsafe { *out = Box::into_raw(Box::new(tokenizer)) };
        Ok(Values::default())
    })
}

/// # Safety
/// `tokenizer` is from `ladon_tokenizer_open`, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_close(tokenizer: *mut Tokenizer) {
    drop(unsafe { Box::from_raw(tokenizer) });
}

/// Returns the ids of a text or, if `pair` is not null, of a pair of texts: at most `most`. If the texts have more ids, cuts
/// the longer text first, and keeps the special tokens.
///
/// # Safety
/// `tokenizer` is open. `text` has `bytes` bytes, and `pair` has `pair_bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_encode(
    tokenizer: *const Tokenizer,
    text: *const u8,
    bytes: usize,
    pair: *const u8,
    pair_bytes: usize,
    special: bool,
    most: usize,
) -> Answer {
    answer(|| {
        let tokenizer = unsafe { &*tokenizer };
        let text = text_of(unsafe { slice_of(text, bytes) }, "text")?;
        let pair = match pair.is_null() {
            true => None,
            false => Some(text_of(unsafe { slice_of(pair, pair_bytes) }, "second text")?),
        };
        let encoding = encode(tokenizer, text, pair, special, most)?;
        Ok(Values {
            ids: encoding.get_ids().to_vec(),
            type_ids: encoding.get_type_ids().to_vec(),
            ..Values::default()
        })
    })
}

fn text_of<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, String> {
    from_utf8(bytes).map_err(|error| format!("the {what} is not UTF-8 from byte {} on", error.valid_up_to()))
}

fn encode(
    tokenizer: &Tokenizer,
    text: &str,
    pair: Option<&str>,
    special: bool,
    most: usize,
) -> Result<Encoding, String> {
    let encode_all = |input: EncodeInput, special| tokenizer.encode(input, special).map_err(|error| error.to_string());
    let input = pair.map_or_else(|| text.into(), |pair| (text, pair).into());
    let encoding = encode_all(input, special)?;
    if encoding.len() <= most {
        return Ok(encoding);
    }
    let processor = tokenizer.get_post_processor().filter(|_| special);
    let added = processor.map_or(0, |processor| processor.added_tokens(pair.is_some()));
    let room = most.checked_sub(added).ok_or(format!("there is room for {most} tokens, but {added} are special"))?;
    let params = TruncationParams { max_length: room, ..TruncationParams::default() }; // longest first, at the right
    let text = encode_all(text.into(), false)?;
    let pair = pair.map(|pair| encode_all(pair.into(), false)).transpose()?;
    let (mut text, mut pair) = truncate_encodings(text, pair, &params).map_err(|error| error.to_string())?;
    for cut in [Some(&mut text), pair.as_mut()].into_iter().flatten() {
        cut.take_overflowing(); // what was cut away
    }
    tokenizer.post_process(text, pair, special).map_err(|error| error.to_string())
}

/// Returns the text of the ids. Leaves out ids that the vocabulary does not have.
///
/// # Safety
/// `tokenizer` is open. `ids` has `count` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_decode(
    tokenizer: *const Tokenizer,
    ids: *const u32,
    count: usize,
    skip_special: bool,
) -> Answer {
    answer(|| {
        let (tokenizer, ids) = unsafe { (&*tokenizer, slice_of(ids, count)) };
        let text = tokenizer.decode(ids, skip_special).map_err(|error| error.to_string())?;
        Ok(Values { text, ..Values::default() })
    })
}

/// Returns the text that the vocabulary has for an id.
///
/// # Safety
/// `tokenizer` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_token(tokenizer: *const Tokenizer, id: u32) -> Answer {
    answer(|| {
        let text = unsafe { &*tokenizer }.id_to_token(id).ok_or(format!("the vocabulary has no token {id}"))?;
        Ok(Values { text, ..Values::default() })
    })
}

/// Returns the id of a token of the vocabulary.
///
/// # Safety
/// `tokenizer` is open. `text` has `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_id(tokenizer: *const Tokenizer, text: *const u8, bytes: usize) -> Answer {
    answer(|| {
        let token = from_utf8(unsafe { slice_of(text, bytes) }).map_err(|error| error.to_string())?;
        let id = unsafe { &*tokenizer }.token_to_id(token).ok_or(format!("the vocabulary has no token {token:?}"))?;
        Ok(Values { ids: vec![id], type_ids: vec![0], ..Values::default() })
    })
}

/// # Safety
/// `owned` is from an Answer, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ladon_tokenizer_free(owned: *mut Values) {
    drop(unsafe { Box::from_raw(owned) });
}
