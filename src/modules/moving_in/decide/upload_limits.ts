/** Characters of one part of an uploaded file. */
export const PART_LENGTH_MAX = 250_000;
/** Parts of one file. */
export const PARTS_MAX = 400;
/** Characters of all files of a move. */
export const UPLOAD_LENGTH_MAX = 64_000_000;
