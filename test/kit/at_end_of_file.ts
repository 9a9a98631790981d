const closers: (() => Promise<void>)[] = [];

/** Closes something once all tests of the file are over. */
export function atEndOfFile(close: () => Promise<void>): void {
  closers.push(close);
}

/** Called behind each file; what was taken last is closed first. */
export async function endFile(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}
