import { type PointerEvent, type ReactNode, type RefObject, useRef, useState } from 'react';

import { inOwnFile } from '#console/components/in_own_file.tsx';

const Hint = inOwnFile(() => import('#console/components/hint.tsx').then((m) => m.Hint));

interface Hinted {
  /** For the button. */
  readonly target: {
    readonly ref: RefObject<HTMLButtonElement | null>;
    readonly onPointerEnter: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
  };
  /** To be placed beside it. */
  readonly hint: ReactNode;
}

/** A hint at a button that a mouse rests on. What it says is said to readers of screens by the label of the button. */
export function useHint(text: string): Hinted {
  const ref = useRef<HTMLButtonElement>(null);
  const [isNear, setIsNear] = useState(false);
  return {
    target: {
      ref,
      onPointerEnter: ({ pointerType }) => setIsNear(pointerType === 'mouse'),
      onPointerLeave: () => setIsNear(false),
    },
    hint: isNear && <Hint target={ref} text={text} />,
  };
}
