/** What reading a label, or an attribute, takes: as much time as so many bytes of a body. */
export const LABEL_BYTES = 60;
