-- Gets each of the paths in a file in turn, and prints figures that a program can read.
local requests, at = {}, 0

function init(args)
    for path in io.lines(args[1]) do
        requests[#requests + 1] = wrk.format("GET", path)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format("figures %d %d %d %d %d\n", summary.requests, summary.duration, failed,
        latency:percentile(50), latency:percentile(99)))
end
