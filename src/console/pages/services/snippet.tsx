import { Button, SegmentedControl, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy, IconEye } from '@tabler/icons-react';
import { useState } from 'react';

import classes from '#console/pages/services/keys_card.module.css';
import type { RevealedKeys } from '#console/pages/services/use_revealed_keys.ts';
import { SNIPPETS } from '#console/pages/services/snippets.ts';

interface SnippetProps {
  /** Credentials with their secrets masked. */
  readonly masked: RevealedKeys;
  /** Credentials; null until somebody reveals them. */
  readonly keys: RevealedKeys | null;
  readonly isPending: boolean;
  readonly onReveal: () => void;
  /** Snippets that are offered; all of them if absent. */
  readonly kinds?: readonly string[];
}

/** Snippet that makes a service start sending. The text can be copied once it contains the real key. */
export function Snippet({ masked, keys, isPending, onReveal, kinds = Object.keys(SNIPPETS) }: SnippetProps) {
  const [kind, setKind] = useState(kinds[0] ?? 'node');
  const clipboard = useClipboard({ timeout: 2_000 });
  const snippet = SNIPPETS[kind];
  const text = snippet?.text(keys ?? masked) ?? '';
  return (
    <div className={classes.snippet}>
      <div className={classes.top}>
        <Text size="sm" fw={560}>
          Set up
        </Text>
        <div className={classes.tabs}>
          <SegmentedControl
            size="xs"
            aria-label="Set up for"
            value={kind}
            onChange={setKind}
            data={kinds.map((value) => ({ value, label: SNIPPETS[value]?.label ?? value }))}
          />
        </div>
        {keys === null ? (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconEye size={16} />}
            loading={isPending}
            onClick={onReveal}
          >
            Show and fill in key
          </Button>
        ) : (
          <Button
            size="xs"
            variant="default"
            leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            onClick={() => clipboard.copy(text)}
          >
            {clipboard.copied ? 'Copied' : 'Copy snippet'}
          </Button>
        )}
      </div>
      {/* Focusable, so that it scrolls sideways by keyboard. */}
      <pre className={classes.code} tabIndex={0} aria-label={`Set up for ${snippet?.label}`}>
        {text}
      </pre>
    </div>
  );
}
