/** The work's result, or what `late` makes when there is none within so long; the work goes on unheard. */
export async function withinPatience<Result>(
  work: Promise<Result>,
  patienceMs: number,
  late: () => Error,
): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), patienceMs);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
