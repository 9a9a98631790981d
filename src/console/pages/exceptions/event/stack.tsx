import { Button, SegmentedControl } from '@mantine/core';
import { useClipboard, useLocalStorage } from '@mantine/hooks';

import type { ExceptionEvent } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { type Frame, functionOf, placeOf } from '#console/components/text/frame_text.ts';
import { IconCheck, IconCopy } from '#console/icons.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { fieldsOf } from '#console/pages/exceptions/field_text.ts';
import classes from '#console/pages/exceptions/event/stack.module.css';
import {
  partsOf,
  rawStack,
  type ShownStack,
  type StackPart,
  stacksOf,
} from '#console/pages/exceptions/event/stack_text.ts';
import { useShortcut } from '#console/shell/keyboard.ts';

const LOOKS = [
  { value: 'pretty', label: 'Pretty' },
  { value: 'raw', label: 'Raw' },
];

/**
 * Card of the raised exceptions and their frames. The letter v changes between own frames with their code and the plain
 * text; y copies it.
 */
export function Stack({ event }: { readonly event: ExceptionEvent }) {
  const [look, setLook] = useLocalStorage({
    key: 'tocsin-stack',
    defaultValue: 'pretty',
    getInitialValueInEffect: false,
  });
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = (): void => clipboard.copy(rawStack(event));
  useShortcut('v', () => setLook(look === 'raw' ? 'pretty' : 'raw'));
  useShortcut('y', copy);
  return (
    <Card
      title="Stack"
      action={
        <div className={classes.tools}>
          <SegmentedControl
            size="xs"
            aria-label="How the stack is shown"
            value={look}
            onChange={setLook}
            data={LOOKS}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            onClick={copy}
            title="Copy the stack (y)"
          >
            {clipboard.copied ? 'Copied' : 'Copy'}
          </Button>
        </div>
      }
    >
      {look === 'raw' ? (
        // Focusable, so that it scrolls sideways by keyboard.
        <pre className={classes.raw} tabIndex={0} aria-label="The stack as plain text">
          {rawStack(event)}
        </pre>
      ) : (
        stacksOf(event).map((stack, index) => (
          // Causes have no names of their own.
          // eslint-disable-next-line react/no-array-index-key
          <OneStack key={index} stack={stack} isCause={index > 0} />
        ))
      )}
    </Card>
  );
}

function OneStack({ stack, isCause }: { readonly stack: ShownStack; readonly isCause: boolean }) {
  const { type, value, frames } = stack;
  return (
    <div className={classes.stack}>
      {isCause && <p className={classes.cause}>Caused by</p>}
      {type !== null && <h3 className={classes.type}>{type}</h3>}
      {value !== null && value !== '' && <pre className={`${classes.value} small mono`}>{value}</pre>}
      {frames.length === 0 && <p className={`${classes.none} dimmed small`}>It was sent without a stack.</p>}
      {frames.length > 0 && <Frames frames={frames} />}
    </div>
  );
}

/** List of frames, the innermost first; those of libraries are collapsed. */
export function Frames({ frames }: { readonly frames: readonly Frame[] }) {
  const parts = partsOf(frames);
  const firstOwn = parts.findIndex(({ isOwn }) => isOwn);
  return (
    <ol className={`${classes.frames} plain-list bordered mono`} aria-label="Frames, innermost first">
      {parts.map((part, index) => (
        // The same frame can be in a stack many times.
        // eslint-disable-next-line react/no-array-index-key
        <Part key={index} part={part} isOpen={part.isOwn || firstOwn === -1} hasCode={index === firstOwn} />
      ))}
    </ol>
  );
}

interface PartProps {
  readonly part: StackPart;
  readonly isOpen: boolean;
  /** Whether its first frame, shown with its code, is the one to look at first. */
  readonly hasCode: boolean;
}

function Part({ part: { frames }, isOpen, hasCode }: PartProps) {
  const shown = frames.map((frame, index) => (
    // The same frame can be in a stack many times.
    // eslint-disable-next-line react/no-array-index-key
    <OneFrame key={index} frame={frame} isFirst={hasCode && index === 0} />
  ));
  if (isOpen) return shown;
  return (
    <li>
      <details className={classes.libraries}>
        <summary>{countText(frames.length, 'library frame')}</summary>
        <ol>{shown}</ol>
      </details>
    </li>
  );
}

function OneFrame({ frame, isFirst }: { readonly frame: Frame; readonly isFirst: boolean }) {
  const heading = (
    <>
      <span className={`${classes.function} strong`}>{functionOf(frame)}</span>{' '}
      <span className="dimmed">
        {frame.sourceUrl === null ? (
          placeOf(frame)
        ) : (
          <a href={frame.sourceUrl} target="_blank" rel="noreferrer">
            {placeOf(frame)}
          </a>
        )}
      </span>
    </>
  );
  const variables = fieldsOf(frame.variables);
  if (frame.code === null && variables.length === 0) return <li className={classes.frame}>{heading}</li>;
  return (
    <li className={classes.frame}>
      <details open={isFirst}>
        <summary>{heading}</summary>
        {frame.code !== null && <Code frame={frame} code={frame.code} />}
        {variables.length > 0 && (
          <dl className={classes.variables} aria-label="Local variables">
            {variables.map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        )}
      </details>
    </li>
  );
}

function Code({ frame, code }: { readonly frame: Frame; readonly code: NonNullable<Frame['code']> }) {
  const first = (frame.line ?? 1) - code.before.length;
  const lines = [...code.before, code.line, ...code.after];
  return (
    <pre className={classes.code} tabIndex={0} aria-label="Source code">
      {lines.map((line, index) => (
        <span
          // Lines of code never change places.
          // eslint-disable-next-line react/no-array-index-key
          key={index}
          className={index === code.before.length ? classes.raising : undefined}
        >
          <span className={`${classes.lineNumber} dimmed to-right`} aria-hidden>
            {frame.line === null ? '' : first + index}
          </span>
          {line}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
