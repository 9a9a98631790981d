import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy, IconEye, IconEyeOff } from '@tabler/icons-react';
import { useId, useState } from 'react';

import classes from '#console/parts/copy_field.module.css';

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  /** Given: it is hidden until somebody asks, and this is shown meanwhile. */
  readonly mask?: string;
}

/** A text that is taken elsewhere. */
export function CopyField({ label, value, mask }: CopyFieldProps) {
  const [isShown, setIsShown] = useState(mask === undefined);
  const clipboard = useClipboard({ timeout: 2_000 });
  const id = useId();
  return (
    <div role="group" aria-labelledby={id}>
      <span className={classes.label} id={id}>
        {label}
      </span>
      <div className={classes.field}>
        <span className={`${classes.text} ${isShown ? classes.isWhole : ''}`}>{isShown ? value : mask}</span>
        {mask !== undefined && (
          <IconButton label={isShown ? `Hide ${label}` : `Show ${label}`} onClick={() => setIsShown(!isShown)}>
            {isShown ? <IconEyeOff size={18} /> : <IconEye size={18} />}
          </IconButton>
        )}
        <IconButton label={clipboard.copied ? 'Copied' : `Copy ${label}`} onClick={() => clipboard.copy(value)}>
          {clipboard.copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
        </IconButton>
      </div>
    </div>
  );
}

interface CopyIdProps {
  /** What it identifies, as the button names it. */
  readonly of: string;
  readonly value: string;
}

/** An id in a line of its own, small: it is needed only where something is set up by REST, MCP or the command line. */
export function CopyId({ of, value }: CopyIdProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <span className={classes.id}>
      <code>{value}</code>
      <IconButton label={clipboard.copied ? 'Copied' : `Copy the id of ${of}`} onClick={() => clipboard.copy(value)}>
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </IconButton>
    </span>
  );
}

interface IconButtonProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: React.ReactNode;
}

function IconButton({ label, onClick, children }: IconButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size={36} onClick={onClick} aria-label={label}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Enough of a secret to recognise it by. */
export function maskSecret(secret: string): string {
  return `${secret.slice(0, 8)}${'•'.repeat(12)}`;
}
