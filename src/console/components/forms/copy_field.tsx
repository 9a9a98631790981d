import { useClipboard } from '@mantine/hooks';
import { useId, useState } from 'react';

import classes from '#console/components/forms/copy_field.module.css';
import { IconButton } from '#console/components/buttons.tsx';
import { AskBeforeLeaving } from '#console/components/dialog.tsx';
import { IconCheck, IconCopy } from '#console/icons.ts';

const LOOK = { variant: 'subtle', color: 'gray', size: 36 } as const;

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  /** Whether the secret is masked, so that there is nothing to copy. */
  readonly isMasked?: boolean;
  /** Whether the value cannot be shown again: until it is copied, leaving asks. */
  readonly isShownOnce?: boolean;
}

export function CopyField({ label, value, isMasked = false, isShownOnce = false }: CopyFieldProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const [isTaken, setIsTaken] = useState(false);
  const id = useId();
  return (
    <div role="group" aria-labelledby={id} onCopy={() => setIsTaken(true)}>
      {isShownOnce && !isTaken && <AskBeforeLeaving loss="secret" />}
      <span className={`${classes.label} small strong`} id={id}>
        {label}
      </span>
      <div className={`${classes.field} row shrinks`}>
        <span className={`${classes.text} ${isMasked ? '' : classes.isWhole}`}>{value}</span>
        {!isMasked && (
          <IconButton
            {...LOOK}
            label={clipboard.copied ? 'Copied' : `Copy ${label}`}
            onClick={() => {
              clipboard.copy(value);
              setIsTaken(true);
            }}
          >
            {clipboard.copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
          </IconButton>
        )}
      </div>
    </div>
  );
}

interface CopyIdProps {
  /** Thing that the id identifies, for the label of the button. */
  readonly of: string;
  readonly value: string;
}

/** Id in small text: people need it only for REST, MCP or the command line. */
export function CopyId({ of, value }: CopyIdProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <span className={`${classes.id} row dimmed shrinks`}>
      <code>{value}</code>
      <IconButton
        {...LOOK}
        label={clipboard.copied ? 'Copied' : `Copy the id of ${of}`}
        onClick={() => clipboard.copy(value)}
      >
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </IconButton>
    </span>
  );
}
