import type { ExceptionEvent } from '#console/api/exceptions.ts';
import { type Frame, functionOf, placeOf } from '#console/components/text/frame_text.ts';

type Raised = ExceptionEvent['exceptions'][number];

/** Stack under its heading, the innermost frame first. */
export interface ShownStack {
  readonly type: string | null;
  readonly value: string | null;
  readonly frames: readonly Frame[];
}

/** Returns the stacks of an event, most telling first: the exception, then causes; or the thread, or the message. */
export function stacksOf(event: ExceptionEvent): readonly ShownStack[] {
  if (event.exceptions.length > 0) {
    const stacks = event.exceptions.toReversed().map(toShownStack);
    const newestFirst = event.frames.toReversed();
    return stacks.some(({ frames }) => frames.length > 0) || newestFirst.length === 0
      ? stacks
      : stacks.map((stack, index) => (index === 0 ? { ...stack, frames: newestFirst } : stack));
  }
  return [{ type: null, value: event.message, frames: event.frames.toReversed() }];
}

function toShownStack({ type, value, frames }: Raised): ShownStack {
  return { type, value, frames: frames.toReversed() };
}

/** Returns all stacks as plain text, to be read or pasted elsewhere. */
export function rawStack(event: ExceptionEvent): string {
  return stacksOf(event)
    .map(({ type, value, frames }, index) => {
      const heading = [type, value].filter((part) => part !== null && part !== '').join(': ');
      const lines = frames.map((frame) => `    at ${functionOf(frame)} (${placeOf(frame)})`);
      return [`${index === 0 ? '' : 'Caused by: '}${heading}`, ...lines].join('\n');
    })
    .join('\n');
}

/** Consecutive frames; those of libraries that follow each other are one part, which can be opened. */
export interface StackPart {
  readonly isOwn: boolean;
  readonly frames: readonly Frame[];
}

export function partsOf(frames: readonly Frame[]): readonly StackPart[] {
  const parts: { isOwn: boolean; frames: Frame[] }[] = [];
  for (const frame of frames) {
    const last = parts.at(-1);
    if (last?.isOwn === frame.inApp) last.frames.push(frame);
    else parts.push({ isOwn: frame.inApp, frames: [frame] });
  }
  return parts;
}
