import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type Ref, useEffect, useRef, useState } from 'react';
import { SEARCH_LENGTH_MAX } from '#core/console/limits.ts';

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** What the address of the page says. */
  readonly value: string | undefined;
  /** Puts it into the address; undefined for nothing. */
  onChange(text: string | undefined): void;
  /** It stands above the list by itself. */
  readonly isAlone?: boolean;
  readonly ref?: Ref<HTMLInputElement> | undefined;
}

/** Searches a list. What is searched for stands in the address. */
export function SearchField({ label, placeholder, value = '', onChange, isAlone = false, ref }: SearchFieldProps) {
  const [typed, type] = useTypedText(value, (text) => onChange(text === '' ? undefined : text));
  return (
    <TextInput
      ref={ref}
      {...(isAlone && { maw: 320, mb: 'md' })}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      maxLength={SEARCH_LENGTH_MAX}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}

/**
 * The field shows at once what is typed, although the address follows later: else fast letters are lost. What the
 * address says otherwise, as after a step back, is taken over.
 */
function useTypedText(
  inAddress: string,
  toAddress: (text: string) => void,
): readonly [typed: string, type: (text: string) => void] {
  const [typed, setTyped] = useState(inAddress);
  /** What was sent and has not come back yet, in order. */
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
  return [typed, type];
}
