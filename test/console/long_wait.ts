/** Options of the testing library's waits: by default it gives up after a second. */
export const PATIENTLY = { timeout: 60_000 } as const;
