import { TextInput } from '@mantine/core';
import { type ReactNode, Suspense, useState } from 'react';

interface ChoiceFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** What is chosen, in words. */
  readonly text?: string;
  /** Whether the list of choices is needed at once. */
  readonly isNeeded?: boolean;
  /** Loads what the list of choices is made of. */
  readonly onNear: () => void;
  /** The list of choices. It continues with the letters that were typed before it was there, and takes the focus. */
  readonly children: (begun: { readonly initialText: string; readonly isFocused: boolean }) => ReactNode;
}

/** A field with a list of choices. What the list is made of is loaded when somebody goes there. */
export function ChoiceField({ label, placeholder, text = '', isNeeded = false, onNear, children }: ChoiceFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const [isFocused, setIsFocused] = useState(false);
  const [isWanted, setIsWanted] = useState(isNeeded);
  const field = (
    <TextInput
      role="combobox"
      aria-label={label}
      aria-expanded={false}
      placeholder={placeholder}
      value={typed ?? text}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onPointerEnter={onNear}
      onFocus={() => {
        setIsFocused(true);
        setIsWanted(true);
      }}
      onBlur={() => setIsFocused(false)}
    />
  );
  if (!isWanted && !isNeeded) return field;
  return <Suspense fallback={field}>{children({ initialText: typed ?? '', isFocused })}</Suspense>;
}
