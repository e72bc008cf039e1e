"""`python -m workers.master`: Gunicorn's master, and after a fork each of its workers.

What multiprocessing spawns from a worker imports the main module once more, as `__mp_main__`, and before anything
else. So nothing happens here by importing; and such a process dies with its worker from its first moment on.
"""

if __name__ == "__main__":
    from workers.arbiter import main

    main()

if __name__ == "__mp_main__":
    from api.offspring import settle_in

    settle_in()
