import type { ExceptionEvent } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { fieldsOf } from '#console/pages/exceptions/field_text.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/exceptions/event/event_data.module.css';

/** Card of all other data that the client sent with the event. */
export function EventData({ event }: { readonly event: ExceptionEvent }) {
  const { user, tags, request, contexts, extra, sdk, logger, platform, thread, dist, exceptions } = event;
  const mechanism = exceptions.at(-1)?.mechanism ?? null;
  const client = {
    platform,
    sdk: sdk === null ? null : `${sdk.name} ${sdk.version ?? ''}`.trim(),
    dist,
    logger,
    mechanism: mechanism?.type ?? null,
    thread: thread === null ? null : [thread.name, thread.id].filter((part) => part !== null).join(' '),
  };
  const sections = [
    ['Request', request],
    ['User', user],
    ['Tags of this event', tags],
    ['Contexts', contexts],
    ['Extra', extra],
    ['Mechanism', mechanism?.data],
    ['Client', client],
  ] as const;
  const modules = Object.entries(event.modules ?? {});
  return (
    <Card title="Sent with the event">
      {sections.map(([title, value]) => (
        <Fields key={title} title={title} value={value} />
      ))}
      {modules.length > 0 && (
        <details className={classes.modules}>
          <summary>{countText(modules.length, 'installed package')}</summary>
          <Fields title="Packages" value={event.modules} />
        </details>
      )}
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
