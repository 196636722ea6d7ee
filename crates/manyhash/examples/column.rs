//! Hashes a column of short strings in Arrow's layout: pseudonyms of mail addresses, as 64 hexadecimal digits per row.
//!
//! Plain digests of addresses are not pseudonyms: anyone with a list of addresses finds them by hashing the list. With
//! a key, only its owner can.

use manyhash::{Algorithm, Batch, Column, Encoding};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mails = ["alice@example.com", "", "bob@example.com"];
    // What arrow, polars and DuckDB have in memory: the values side by side, and where each row ends.
    let values = mails.concat();
    let mut offsets = vec![0_i32];
    for mail in mails {
        offsets.push(offsets.last().unwrap_or(&0) + mail.len() as i32);
    }
    let validity = [0b101]; // The second row is null.
    let column = Column::binary(values.as_bytes(), &offsets)?.with_validity(&validity, 0)?;

    let batch = Batch::new(Algorithm::Sha256).key("32 random bytes that nobody knows");
    let hex = batch.digest_column(&column, Encoding::Hex);
    for (i, digits) in hex.chunks(Encoding::Hex.width(Algorithm::Sha256)).enumerate() {
        match column.row(i) {
            Some(_) => println!("{}", str::from_utf8(digits)?),
            None => println!("null"),
        }
    }

    assert_eq!(&hex[..64], batch.digest(mails[0]).to_hex().as_bytes());
    assert_eq!(&hex[64..128], [0; 64]);
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
