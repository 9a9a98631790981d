/**
 * Reduces points to at most `most`, in their order: of each stretch the one furthest from the median of all, so that no
 * peak and no dip gets lost. The last point always stays.
 */
export function downsamplePoints<Point extends { readonly value: number }>(
  points: readonly Point[],
  most: number,
): Point[] {
  if (points.length <= most) return [...points];
  const middle = points.map(({ value }) => value).toSorted((a, b) => a - b)[Math.floor(points.length / 2)] ?? 0;
  const stretches = most - 1;
  const earlier = points.slice(0, -1);
  const kept = Array.from({ length: stretches }, (_, index) => {
    const stretch = earlier.slice(
      Math.floor((index * earlier.length) / stretches),
      Math.floor(((index + 1) * earlier.length) / stretches),
    );
    return stretch.toSorted((a, b) => Math.abs(b.value - middle) - Math.abs(a.value - middle))[0];
  });
  return [...kept, points.at(-1)].flatMap((point) => point ?? []);
}
