/** Line of a marker on the plot, in pixels from the left. */
interface MarkerLine {
  readonly at: number;
  readonly label: string;
}

interface PlacedLabel {
  readonly text: string;
  /** Position where the text begins. */
  readonly x: number;
}

interface Room {
  readonly left: number;
  readonly right: number;
}

/** Gap between a line and its label, and behind the label. */
const GAP_PX = 7;
/** Greatest width of a label; of a longer one only the beginning is written. */
const WIDTH_MAX_PX = 120;
/** Smallest width of a label: nothing narrower can be read. */
const WIDTH_MIN_PX = 34;

/**
 * Returns the label of each line, from left to right: beside its own line and over no other one, shortened if the next
 * line is near, and null if there is no room. All positions are in CSS pixels.
 */
export function placeLabels(
  lines: readonly MarkerLine[],
  plot: Room,
  widthOf: (text: string) => number,
): (PlacedLabel | null)[] {
  let freeFrom = plot.left;
  return lines.map(({ at, label }, index) => {
    const right = Math.min(lines[index + 1]?.at ?? plot.right, plot.right) - at - 2 * GAP_PX;
    const left = at - Math.max(lines[index - 1]?.at ?? plot.left, freeFrom) - 2 * GAP_PX;
    const wanted = Math.min(widthOf(label), WIDTH_MAX_PX);
    const isRight = wanted <= right || (wanted > left && right >= left);
    const text = cutText(label, Math.min(WIDTH_MAX_PX, isRight ? right : left), widthOf);
    if (text === null) return null;
    const width = widthOf(text);
    if (isRight) freeFrom = at + GAP_PX + width;
    return { text, x: isRight ? at + GAP_PX : at - GAP_PX - width };
  });
}

function cutText(text: string, room: number, widthOf: (text: string) => number): string | null {
  if (widthOf(text) <= room) return text;
  if (room < WIDTH_MIN_PX) return null;
  let shown = text.slice(0, 40);
  while (shown.length > 1 && widthOf(`${shown}…`) > room) shown = shown.slice(0, -1);
  return `${shown.trimEnd()}…`;
}
