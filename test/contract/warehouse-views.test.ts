import { describe, expect, it } from 'vitest';
import { customColumn, layoutWith } from '../support/warehouse-layout.ts';
import { openWarehouse, type WarehouseStage } from '../support/warehouse-stage.ts';

const references = `
  INSERT INTO crm.pipeline (id, name) VALUES (1, 'Sales');
  INSERT INTO crm.stage (id, pipeline_id, name, position, outcome) VALUES
    (10, 1, 'New', 1, 'open'), (11, 1, 'Talks', 2, 'open'), (12, 1, 'Won', 3, 'won'), (13, 1, 'Lost', 4, 'lost');
  INSERT INTO crm.stage (id, pipeline_id, name, position, outcome, retired_at) VALUES (14, 1, 'Old', 5, 'open', now());
  INSERT INTO crm.task_status (id, name) VALUES (1, 'To do'), (3, 'Completed');
  INSERT INTO crm.task_priority (id, name) VALUES (1, 'High')`;

/** Opportunity 7 goes from New through Talks to Won; 8 from New to Lost; 9 is in New, and its value changed there. */
const opportunities = `
  INSERT INTO crm.lead (id, title, valid_from) VALUES (5, 'Acme', '2026-01-01Z');
  INSERT INTO crm_sync.opportunity_past (id, lead_id, stage_id, value, confidence, valid_after, valid_from, valid_until, ended, made_by) VALUES
    (7, 5, 10, 100, 50, NULL, '2026-01-01Z', '2026-01-05Z', 'changed', 'crm'),
    (7, 5, 11, 100, 50, '2026-01-04Z', '2026-01-05Z', '2026-01-07Z', 'changed', 'crm'),
    (7, 5, 11, 200, 50, '2026-01-06Z', '2026-01-07Z', '2026-02-02Z', 'changed', 'crm'),
    (8, 5, 10, 40, NULL, NULL, '2026-01-01Z', '2026-01-11Z', 'changed', 'crm'),
    (9, 5, 10, 60, 10, NULL, '2026-01-01Z', '2026-01-03Z', 'changed', 'crm');
  INSERT INTO crm.opportunity (id, lead_id, stage_id, value, confidence, valid_after, valid_from, made_by) VALUES
    (7, 5, 12, 200, 100, '2026-02-01Z', '2026-02-02Z', 'crm'),
    (8, 5, 13, 40, NULL, '2026-01-10Z', '2026-01-11Z', 'crm'),
    (9, 5, 10, 80, 10, '2026-01-02Z', '2026-01-03Z', 'sheet')`;

async function openFilled(): Promise<WarehouseStage> {
  const stage = await openWarehouse();
  await stage.layOut();
  await stage.daemon.query("SET timezone = 'UTC'");
  await stage.write(`${references}; ${opportunities}`);
  return stage;
}

/** Rows as text, because drivers differ in numbers and times. */
async function rowsOf(stage: WarehouseStage, sql: string): Promise<string[]> {
  const { rows } = await stage.daemon.query(`SELECT q::text AS line FROM (${sql}) q`);
  return rows.map(({ line }) => line);
}

describe('the views of history', () => {
  it('show versions that are over with the one of now', async () => {
    await using stage = await openFilled();
    expect(
      await rowsOf(
        stage,
        'SELECT value, valid_from::date, valid_until::date, ended, made_by FROM crm.opportunity_history WHERE id = 9 ORDER BY valid_from',
      ),
    ).toEqual(['(60,2026-01-01,2026-01-03,changed,crm)', '(80,2026-01-03,,,sheet)']);
  });

  it('show each change of a field once, with what it was before', async () => {
    await using stage = await openFilled();
    expect(
      await rowsOf(
        stage,
        'SELECT field, before, after, changed_after::date, changed_at::date, made_by FROM crm.opportunity_change WHERE opportunity_id IN (7, 9) ORDER BY opportunity_id, changed_at, field',
      ),
    ).toEqual([
      '(stage_id,10,11,2026-01-04,2026-01-05,crm)',
      '(value,100,200,2026-01-06,2026-01-07,crm)',
      '(confidence,50,100,2026-02-01,2026-02-02,crm)',
      '(stage_id,11,12,2026-02-01,2026-02-02,crm)',
      '(value,60,80,2026-01-02,2026-01-03,sheet)',
    ]);
  });

  it('make one visit of versions in a row that have the same stage', async () => {
    await using stage = await openFilled();
    expect(
      await rowsOf(
        stage,
        'SELECT stage_id, entered_after::date, entered_at::date, left_at::date FROM crm.stage_history WHERE opportunity_id = 7 ORDER BY entered_at',
      ),
    ).toEqual([
      '(10,,2026-01-01,2026-01-05)',
      '(11,2026-01-04,2026-01-05,2026-02-02)',
      '(12,2026-02-01,2026-02-02,)',
    ]);
  });

  it('count a stage that is entered again as another visit', async () => {
    await using stage = await openFilled();
    await stage.write(`
      INSERT INTO crm_sync.opportunity_past (id, stage_id, valid_from, valid_until, ended) VALUES
        (20, 10, '2026-01-01Z', '2026-01-02Z', 'changed'), (20, NULL, '2026-01-02Z', '2026-01-03Z', 'changed');
      INSERT INTO crm.opportunity (id, stage_id, valid_from) VALUES (20, 10, '2026-01-03Z')`);
    expect(
      await rowsOf(
        stage,
        'SELECT stage_id, entered_at::date, left_at::date FROM crm.stage_history WHERE opportunity_id = 20 ORDER BY entered_at',
      ),
    ).toEqual(['(10,2026-01-01,2026-01-02)', '(,2026-01-02,2026-01-03)', '(10,2026-01-03,)']);
  });

  it('end a visit with the record, and begin another one where it comes back', async () => {
    await using stage = await openFilled();
    await stage.write(`
      INSERT INTO crm_sync.opportunity_past (id, stage_id, valid_after, valid_from, valid_until, ended) VALUES
        (20, 11, NULL, '2026-01-01Z', '2026-01-02Z', 'changed'), (20, 11, NULL, '2026-01-02Z', '2026-01-03Z', 'trashed');
      INSERT INTO crm.opportunity (id, stage_id, valid_after, valid_from) VALUES (20, 11, '2026-01-08Z', '2026-01-09Z')`);
    expect(
      await rowsOf(
        stage,
        'SELECT stage_id, entered_after::date, entered_at::date, left_at::date FROM crm.stage_history WHERE opportunity_id = 20 ORDER BY entered_at',
      ),
    ).toEqual(['(11,,2026-01-01,2026-01-03)', '(11,2026-01-08,2026-01-09,)']);
    expect(
      await rowsOf(stage, 'SELECT stage_entered_at::date FROM crm.opportunity_overview WHERE id = 20'),
    ).toEqual(['(2026-01-09)']);
    expect(
      await rowsOf(stage, 'SELECT moves FROM crm.stage_conversion WHERE from_stage_id = to_stage_id'),
    ).toEqual([]);
  });

  it('count a move over a version of which no stage is known', async () => {
    await using stage = await openFilled();
    await stage.write(`
      INSERT INTO crm_sync.opportunity_past (id, stage_id, valid_from, valid_until, ended) VALUES
        (20, 10, '2026-03-01Z', '2026-03-02Z', 'changed'), (20, NULL, '2026-03-02Z', '2026-03-05Z', 'changed'),
        (21, 10, '2026-03-01Z', '2026-03-02Z', 'changed'), (21, NULL, '2026-03-02Z', '2026-03-05Z', 'changed');
      INSERT INTO crm.opportunity (id, stage_id, valid_from) VALUES (20, 12, '2026-03-05Z'), (21, 10, '2026-03-05Z')`);
    expect(
      await rowsOf(stage, "SELECT won, lost, win_rate FROM crm.win_rate WHERE month = '2026-03-01'"),
    ).toEqual(['(1,0,1.0000)']);
    expect(
      await rowsOf(
        stage,
        'SELECT from_stage_id, to_stage_id, moves, median_days FROM crm.stage_conversion ORDER BY 1, 2',
      ),
    ).toEqual(['(10,11,1,4)', '(10,12,1,4)', '(10,13,1,10)', '(11,12,1,28)']);
  });

  it('count moves between stages with the days in the middle, and the share that was won by month', async () => {
    await using stage = await openFilled();
    expect(
      await rowsOf(
        stage,
        'SELECT from_stage_name, to_stage_name, moves, median_days FROM crm.stage_conversion ORDER BY from_stage_id, to_stage_id',
      ),
    ).toEqual(['(New,Talks,1,4)', '(New,Lost,1,10)', '(Talks,Won,1,28)']);
    expect(await rowsOf(stage, 'SELECT * FROM crm.win_rate ORDER BY month')).toEqual([
      '(1,Sales,2026-01-01,0,1,0.0000)',
      '(1,Sales,2026-02-01,1,0,1.0000)',
    ]);
  });
});

describe('the views of now', () => {
  it('show opportunities with labels, weighted value and the time in the stage', async () => {
    await using stage = await openFilled();
    expect(
      await rowsOf(
        stage,
        'SELECT id, lead_title, pipeline_name, stage_name, outcome, weighted_value::float8, stage_entered_at::date, days_in_stage = current_date - stage_entered_at::date FROM crm.opportunity_overview ORDER BY id',
      ),
    ).toEqual([
      '(7,Acme,Sales,Won,won,200,2026-02-02,t)',
      '(8,Acme,Sales,Lost,lost,,2026-01-11,t)',
      '(9,Acme,Sales,New,open,8,2026-01-01,t)',
    ]);
  });

  it('count opportunities by stage, also in an empty one, but not in one that is retired and empty', async () => {
    await using stage = await openFilled();
    expect(
      await rowsOf(
        stage,
        'SELECT stage_name, opportunities, value, weighted_value::float8 FROM crm.pipeline_by_stage ORDER BY position',
      ),
    ).toEqual(['(New,1,80,8)', '(Talks,0,0,0)', '(Won,1,200,200)', '(Lost,1,40,0)']);
  });

  it('call a task overdue until it is completed', async () => {
    await using stage = await openFilled();
    await stage.write(`INSERT INTO crm.task (id, title, status, priority, due_date, lead_id, valid_from) VALUES
      (1, 'late', 1, 1, '2026-01-01', 5, now()), (2, 'done', 3, NULL, '2026-01-01', NULL, now()), (3, 'open', NULL, NULL, NULL, NULL, now())`);
    expect(
      await rowsOf(
        stage,
        'SELECT title, lead_title, status_name, priority_name, is_overdue FROM crm.task_overview ORDER BY id',
      ),
    ).toEqual(['(late,Acme,"To do",High,t)', '(done,,Completed,,f)', '(open,,,,f)']);
  });

  const ofUsers = [
    customColumn('cf_manager', { namesUsers: true }),
    customColumn('cf_team', { type: 'text[]', namesUsers: true }),
  ];

  it('show leads with the label of their status, and names of users beside ids', async () => {
    await using stage = await openWarehouse();
    await stage.layOut(layoutWith(ofUsers));
    await stage.write(`
      INSERT INTO crm.user_name (id, name) VALUES ('9001', 'Ewa Zielińska'), ('9003', 'Jan');
      INSERT INTO crm.lead_status (name, label) VALUES ('new', 'New lead');
      INSERT INTO crm.lead (id, title, status_name, cf_manager, cf_team, valid_from) VALUES
        (1, 'Acme', 'new', '9001', '{9003,9007,9001}', now()), (2, 'Beta', 'odd', '9007', '{}', now()), (3, 'Gamma', NULL, NULL, NULL, now())`);
    expect(
      await rowsOf(
        stage,
        'SELECT title, status_label, cf_manager, cf_manager_name, cf_team_names FROM crm.lead_overview ORDER BY id',
      ),
    ).toEqual([
      '(Acme,"New lead",9001,"Ewa Zielińska","{Jan,9007,""Ewa Zielińska""}")',
      '(Beta,,9007,9007,{})',
      '(Gamma,,,,)',
    ]);
  });

  it('keep a column of names, which is empty once the field holds no users any more', async () => {
    await using stage = await openWarehouse();
    await stage.layOut(layoutWith(ofUsers));
    await stage.write(
      `INSERT INTO crm.lead (id, title, cf_manager, valid_from) VALUES (1, 'Acme', '9001', now())`,
    );
    const read = 'SELECT cf_manager, cf_manager_name, cf_team, cf_team_names FROM crm.lead_overview';
    expect(await rowsOf(stage, read)).toEqual(['(9001,9001,,)']);
    // One field became a text, the other one was forgotten, and a new one is called as the names were.
    expect(await stage.layOut(layoutWith([customColumn('cf_manager')]))).toEqual([]);
    expect(await rowsOf(stage, read)).toEqual(['(9001,,,)']);
    const taken = [...ofUsers, customColumn('cf_manager_name')];
    expect(await stage.layOut(layoutWith(taken))).toEqual([]);
    await stage.write("UPDATE crm.lead SET cf_manager_name = 'own'");
    expect(await rowsOf(stage, read)).toEqual(['(9001,own,,)']);
  });

  it('are there for a reader, who can see no table of the machinery', async () => {
    await using stage = await openFilled();
    await stage.admin.query('SET ROLE crm_reader');
    const { rows } = await stage.admin.query('SELECT count(*)::int AS n FROM crm.opportunity_history');
    expect(rows).toEqual([{ n: 8 }]);
    await expect(stage.admin.query('SELECT FROM crm_sync.opportunity_past')).rejects.toMatchObject({
      code: '42501',
    });
    await stage.admin.query('RESET ROLE');
  });

  it('do not get back a right that an operator took from readers', async () => {
    await using stage = await openFilled();
    await stage.admin.query('REVOKE SELECT ON crm.contact FROM crm_reader');
    await stage.layOut(layoutWith([customColumn('cf_new')]));
    const { rows } = await stage.admin.query(
      "SELECT has_table_privilege('crm_reader', 'crm.contact', 'SELECT') AS may",
    );
    expect(rows).toEqual([{ may: false }]);
  });
});
