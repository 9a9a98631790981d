/** Pattern of ITU-T E.164 as people write it: "+", then 2 to 15 digits, the first not 0, and nothing between them. */
export const E164_PATTERN = String.raw`^\+[1-9]\d{1,14}$`;
