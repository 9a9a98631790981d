import type { Incident } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { Sentence } from '#console/components/text/name.tsx';
import classes from '#console/pages/incidents/alert_details.module.css';
import { shownFacts } from '#modules/alerts/decide/shown_facts.ts';

/** Details of the alert that opened the incident, in the words of its tool, which are not trusted. */
export function AlertDetails({ incident }: { readonly incident: Incident }) {
  const { tool, source, key, facts, links, images } = shownFacts({ ...incident.details });
  const pictures = images.map(({ href, text }) => ({ href, text: `Image: ${text}` }));
  const origin = [source === null ? null : `Source: ${source}`, key === null ? null : `key: ${key}`];
  return (
    <Card
      title={tool === null ? 'What the tool said' : `What ${tool} said`}
      about={<Sentence>{origin.filter((text) => text !== null).join('; ')}</Sentence>}
    >
      {links.length + pictures.length > 0 && (
        <ul className={classes.links}>
          {[...links, ...pictures].map(({ href, text }) => (
            <li key={href}>
              <a href={href} target="_blank" rel="noopener noreferrer nofollow">
                <bdi>{text}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
      <dl className={classes.facts}>
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
