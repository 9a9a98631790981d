/** Converts to the value of a `datetime-local` field, in the zone of the viewer. */
export function toLocalField(at: number): string {
  const date = new Date(at);
  const pad = (number: number, length = 2) => String(number).padStart(length, '0');
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** Reads the field; null if it holds no time. */
export function readLocalField(text: string): number | null {
  const at = new Date(text).getTime();
  return text === '' || Number.isNaN(at) ? null : at;
}

/**
 * Reads the field, but returns the exact time it was filled with if the text is unchanged: a field has no seconds, and
 * cannot tell apart the two passes of an hour that the clocks repeat.
 */
export function readOrKeep(text: string, filledWith: number): number | null {
  return text === toLocalField(filledWith) ? filledWith : readLocalField(text);
}
