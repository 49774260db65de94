-- Of the last day of the year some were later than reported, some were flown by another plane, some had not left at all.
update nycflights.flights set dep_delay = dep_delay + 5, arr_delay = arr_delay + 7
where year = 2013 and month = 12 and day = 31 and flight % 20 = 5;

update nycflights.flights set tailnum = 'N328AA'
where year = 2013 and month = 12 and day = 31 and carrier = 'AA' and flight % 5 = 1;

update nycflights.flights
set dep_time = null, dep_delay = null, arr_time = null, arr_delay = null, air_time = null
where year = 2013 and month = 12 and day = 31 and flight % 20 = 3;

-- Others were withdrawn from the schedule.
delete from nycflights.flights
where year = 2013 and month = 12 and day = 31 and carrier = 'MQ' and flight % 7 = 0;

-- An airport that was missing, one that changes its name, and one without flights that closes.
insert into nycflights.airports values
    ('PSE', 'Mercedita Airport', 18.0083, -66.5630, 29, -4, 'U', 'America/Puerto_Rico');
update nycflights.airports set name = 'Norman Y. Mineta San Jose' where faa = 'SJC';
delete from nycflights.airports where faa = '04G';

-- Observations of last year's storms are put right.
update nycflights.weather set wind_speed = wind_speed - 1 where wind_speed > 38;
