/** Cost of reading a label or an attribute: the time that this many bytes of a body take. */
export const LABEL_BYTES = 60;
