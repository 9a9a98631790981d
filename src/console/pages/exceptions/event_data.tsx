import type { ExceptionEvent } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { fieldsOf } from '#console/pages/exceptions/field_text.ts';
import classes from '#console/pages/exceptions/event_data.module.css';

/** Everything else that the client sent with the event. */
export function EventData({ event }: { readonly event: ExceptionEvent }) {
  const { user, tags, request, contexts, extra, sdk, logger, platform, thread } = event;
  const client = {
    platform,
    sdk: sdk === null ? null : `${sdk.name} ${sdk.version ?? ''}`.trim(),
    logger,
    thread: thread === null ? null : [thread.name, thread.id].filter((part) => part !== null).join(' '),
  };
  const sections = [
    ['Request', request],
    ['User', user],
    ['Tags of this event', tags],
    ['Contexts', contexts],
    ['Extra', extra],
    ['Client', client],
  ] as const;
  return (
    <Card title="Sent with the event">
      {sections.map(([title, value]) => (
        <Fields key={title} title={title} value={value} />
      ))}
    </Card>
  );
}

function Fields({ title, value }: { readonly title: string; readonly value: unknown }) {
  const fields = fieldsOf(value);
  if (fields.length === 0) return null;
  return (
    <>
      <h3 className={classes.title}>{title}</h3>
      <dl className={classes.fields}>
        {fields.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
