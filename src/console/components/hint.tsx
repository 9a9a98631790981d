import { Tooltip } from '@mantine/core';
import { type RefObject, useEffect, useState } from 'react';

/** Time that the pointer rests before the hint is shown, in milliseconds. */
const REST_MS = 300;

/** Tooltip of `useHint`, in a file that is loaded when the first pointer comes near. */
export function Hint({ target, text }: { readonly target: RefObject<HTMLElement | null>; readonly text: string }) {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsOpen(true), REST_MS);
    return () => clearTimeout(timer);
  }, []);
  return <Tooltip target={target} label={text} opened={isOpen} />;
}
