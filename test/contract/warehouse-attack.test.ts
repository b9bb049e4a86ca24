import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/clock.ts';
import { lookAtPostgres } from '../../src/postgres/probe.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { batchOf, leads, noon, openWarehouseDatabase, version } from '../support/warehouse-database.ts';

const tagged = (tag: string, day: number) => version(1, { title: 'a', cf_tags: [tag] }, noon(day));

/** Functions that fit better than those of the database, in a schema where a daemon's session looks for names. */
const snares = `
  CREATE TABLE public.caught (who text);
  GRANT INSERT ON public.caught TO PUBLIC;
  CREATE FUNCTION public.note() RETURNS void LANGUAGE sql AS 'INSERT INTO public.caught VALUES (current_user)';
  CREATE FUNCTION public.jsonb_populate_record(crm.lead, jsonb) RETURNS crm.lead LANGUAGE plpgsql
    AS 'BEGIN PERFORM public.note(); RETURN pg_catalog.jsonb_populate_record($1, $2); END';
  CREATE FUNCTION public.to_jsonb(crm.lead) RETURNS jsonb LANGUAGE plpgsql
    AS 'BEGIN PERFORM public.note(); RETURN pg_catalog.to_jsonb($1); END';
  CREATE FUNCTION public.same(text[], text[]) RETURNS boolean LANGUAGE plpgsql
    AS 'BEGIN PERFORM public.note(); RETURN true; END';
  CREATE OPERATOR public.= (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.same);
  CREATE FUNCTION public.to_json(text[]) RETURNS json LANGUAGE plpgsql
    AS 'BEGIN RAISE ''caught''; END';
  CREATE FUNCTION public.has_database_privilege(name, text) RETURNS boolean LANGUAGE plpgsql
    AS 'BEGIN PERFORM public.note(); RETURN true; END'`;

it('no function or operator of others is run with the rights of the daemon', async () => {
  const database = await openWarehouseDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const warehouse = database.open();
  await database.query(snares);
  await warehouse.write('run-1', batchOf(0, { rows: [tagged('x', 1)] }));
  await warehouse.write('run-2', batchOf(1, { rows: [tagged('y', 2)] }));
  await warehouse.fill('run-3', 2, leads, [tagged('z', 3)]);
  const rows = await Array.fromAsync(warehouse.scan(leads));
  await lookAtPostgres({ url: database.url }, ['crm'], systemClock, createRecordingLog());
  expect(rows).toMatchObject([{ values: { cf_tags: ['z'] } }]);
  expect(await database.list('SELECT who FROM public.caught')).toEqual([]);
});
