/** The value of a `datetime-local` field, in the zone of the viewer. */
export function toLocalField(at: number): string {
  const date = new Date(at);
  const pad = (number: number, length = 2) => String(number).padStart(length, '0');
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** Null when the field holds no time. */
export function readLocalField(text: string): number | null {
  const at = new Date(text).getTime();
  return text === '' || Number.isNaN(at) ? null : at;
}

/**
 * What the field says, but the exact time that it was filled with as long as it still says the same: a field has no
 * seconds, and cannot tell the two passes of an hour that the clocks repeat.
 */
export function readOrKeep(text: string, filledWith: number): number | null {
  return text === toLocalField(filledWith) ? filledWith : readLocalField(text);
}
