-- The flights of a new day, New Year's Day: the schedule of another holiday, Thanksgiving.
insert into nycflights.flights
select
    2014, 1, 1, dep_time, sched_dep_time, dep_delay, arr_time, sched_arr_time, arr_delay, carrier, flight, tailnum,
    origin, dest, air_time, distance, hour, minute, time_hour + interval 34 days
from nycflights.flights
where year = 2013 and month = 11 and day = 28;

-- It is foggy, as a day of January was.
insert into nycflights.weather
select
    origin, 2014, 1, 1, hour, temp, dewp, humid, wind_dir, wind_speed, wind_gust, precip, pressure, visib,
    time_hour + interval 353 days
from nycflights.weather
where year = 2013 and month = 1 and day = 13;
