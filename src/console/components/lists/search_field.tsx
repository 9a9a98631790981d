import { TextInput } from '@mantine/core';
import { type Ref, useEffect, useRef, useState } from 'react';

import { IconSearch } from '#console/icons.ts';
import { SEARCH_LENGTH_MAX } from '#modules/pages/decide/limits.ts';

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** Value in the address of the page. */
  readonly value: string | undefined;
  /** Called with the text for the address; undefined for an empty one. */
  onChange(text: string | undefined): void;
  /** Whether the field stands above the list by itself. */
  readonly isAlone?: boolean;
  /** Fault of the text, and what to write instead. */
  readonly error?: string | null;
  readonly ref?: Ref<HTMLInputElement> | undefined;
}

/** Search field of a list. The searched text is kept in the address. */
export function SearchField(props: SearchFieldProps) {
  const { label, placeholder, value = '', onChange, isAlone = false, error = null, ref } = props;
  const [typed, type] = useTypedText(value, (text) => onChange(text === '' ? undefined : text));
  return (
    <TextInput
      ref={ref}
      {...(isAlone && { maw: 320, mb: 'md' })}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      error={error}
      maxLength={SEARCH_LENGTH_MAX}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}

/**
 * Keeps the typed text. The field shows it at once, although the address follows later: otherwise fast letters are
 * lost. Any other change of the address, as after a step back, is taken over. `keep` shows a text that the address does
 * not get yet.
 */
export function useTypedText(
  inAddress: string,
  toAddress: (text: string) => void,
): readonly [typed: string, type: (text: string) => void, keep: (text: string) => void] {
  const [typed, setTyped] = useState(inAddress);
  /** Values sent to the address that have not come back yet, in order. */
  const sent = useRef<string[]>([]);
  useEffect(() => {
    const place = sent.current.indexOf(inAddress);
    sent.current = place === -1 ? [] : sent.current.slice(place + 1);
    if (place === -1) setTyped(inAddress);
  }, [inAddress]);
  const type = (text: string): void => {
    setTyped(text);
    sent.current.push(text);
    toAddress(text);
  };
  return [typed, type, setTyped];
}

export interface TextSearch {
  readonly q?: string;
}

/** Reads the search text. The router parses digits as a number. */
export function readTextSearch({ q }: Record<string, unknown>): TextSearch {
  const isText = typeof q === 'number' || (typeof q === 'string' && q.trim() !== '');
  return isText ? { q: String(q).slice(0, SEARCH_LENGTH_MAX) } : {};
}
